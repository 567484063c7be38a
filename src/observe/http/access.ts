import { createHash, timingSafeEqual } from "node:crypto";
import { DataflexError } from "../../errors.js";
import { httpAddress, type Listen } from "./listen.js";

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i;
const isLoopback = (host: string): boolean => LOOPBACK.test(host);

const COOKIE = "dfx_token";

/** What a request reveals about its sender. */
export interface Asking {
  readonly url: string;
  readonly host: string | undefined;
  readonly authorization: string | undefined;
  readonly cookie: string | undefined;
}
export type Answer =
  | { readonly word: "in" }
  /** The token came in the address: kept in a cookie, so that it does not stay in history and logs. */
  | { readonly word: "keep"; readonly cookie: string; readonly location: string }
  | { readonly word: "out"; readonly status: 401 | 403; readonly reason: string };

/**
 * Why a request to an address of this machine alone is refused: it was made by another name, so that it may come of a foreign site
 * that resolves to this address (DNS rebinding). Undefined: nothing speaks against it.
 */
export function strangeHost(listen: Listen, host: string | undefined): string | undefined {
  if (!isLoopback(listen.host) || host === undefined || isLoopback(host.replace(/:\d+$/, ""))) return undefined;
  return `asked for as "${host}"; without --token only names of this machine will do`;
}

/**
 * Who may see the page. Without a token: everyone on this machine, as long as the browser uses a name of this machine; another name
 * means that a foreign site resolves to this address (DNS rebinding). With a token: anyone who has it.
 */
export function accessRule(listen: Listen, token: string | undefined): (asking: Asking) => Answer {
  if (token === undefined) {
    if (!isLoopback(listen.host)) throw refuseOpen(listen);
    return ({ host }) => {
      const reason = strangeHost(listen, host);
      return reason === undefined ? { word: "in" } : { word: "out", status: 403, reason };
    };
  }
  const wanted = digest(token);
  const fits = (text: string | undefined): boolean => text !== undefined && timingSafeEqual(digest(text), wanted);
  return ({ url, authorization, cookie }) => {
    if (fits(/^Bearer (.+)$/i.exec(authorization ?? "")?.[1]) || fits(fromCookie(cookie))) return { word: "in" };
    const asked = new URL(url, "http://page");
    if (!fits(asked.searchParams.get("token") ?? undefined)) {
      const reason = "this page needs its token: open it as /?token=TOKEN, or send Authorization: Bearer TOKEN";
      return { word: "out", status: 401, reason };
    }
    asked.searchParams.delete("token");
    const kept = `${COOKIE}=${encodeURIComponent(token)}; HttpOnly; SameSite=Strict; Path=/`;
    return { word: "keep", cookie: kept, location: asked.pathname + asked.search };
  };
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

function fromCookie(cookie: string | undefined): string | undefined {
  const found = new RegExp(`(?:^|;\\s*)${COOKIE}=([^;]*)`).exec(cookie ?? "")?.[1];
  try {
    return found === undefined ? undefined : decodeURIComponent(found);
  } catch {
    return undefined;
  }
}

function refuseOpen({ host, port }: Listen): DataflexError {
  return new DataflexError(
    "USAGE",
    `${httpAddress(host, port)} can be reached from other machines, so its page needs a token. Set one: --token TEXT (or DFX_TOKEN, ` +
      "DFX_TOKEN_FILE), or listen on this machine only: --http 127.0.0.1:7411",
    { host, port },
  );
}
