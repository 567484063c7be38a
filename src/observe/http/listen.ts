import { DataflexError } from "../../errors.js";

export type HttpRole = "broker" | "worker" | "all";

/** Where a service listens. `explicit`: this port was asked for, so no other will do. */
export interface Listen {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly explicit: boolean;
}

export const LOCAL = "127.0.0.1";
export const DEFAULT_PORT = { broker: 7411, all: 7411, worker: 9464 } as const satisfies Record<HttpRole, number>;

/** `--http` as given, or the role's default on this machine only. Errors: USAGE with what to write instead. */
export function listenOf(role: HttpRole, text: string | undefined): Listen {
  if (text === undefined) return { host: LOCAL, port: DEFAULT_PORT[role], explicit: false };
  return { ...parseListen(text, DEFAULT_PORT[role]), explicit: true };
}

/** `HOST:PORT`, an IPv6 host in brackets: `[::1]:7411`. `example` is the port that an error's suggestion names. */
export function parseListen(text: string, example: number = DEFAULT_PORT.broker): { host: string; port: number } {
  const found = /^(?:\[([0-9a-fA-F:.%]+)\]|([^\s:[\]/]+)):(\d{1,5})$/.exec(text);
  const host = found?.[1] ?? found?.[2];
  const port = Number(found?.[3]);
  if (host !== undefined && port <= 65_535) return { host, port };
  throw new DataflexError("USAGE", `--http is "${text}"; ${whyNot(text, port, example)}`, { http: text });
}

function whyNot(text: string, port: number, example: number): string {
  if (port > 65_535) return `port ${port} is above 65535. Write for example --http ${LOCAL}:${example}`;
  if (/^\d+$/.test(text))
    return `the host is missing. Write --http ${LOCAL}:${text} (this machine only) or --http 0.0.0.0:${text}`;
  if (/^:\d+$/.test(text))
    return `the host is missing. Write --http ${LOCAL}${text} (this machine only) or --http 0.0.0.0${text}`;
  if (text.includes("://")) return `write HOST:PORT without a scheme, for example --http ${LOCAL}:${example}`;
  if (text.split(":").length > 2 && !text.startsWith("[")) {
    return `an IPv6 address stands in brackets, for example --http [::1]:${example}`;
  }
  return `write HOST:PORT, for example --http ${LOCAL}:${example}`;
}

/** `http://host:port`; an IPv6 host gets its brackets back. */
export function httpAddress(host: string, port: number): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
