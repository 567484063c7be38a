import { BlockList, isIP } from "node:net";
import type { Redis } from "ioredis";

/** How a connection reaches its server. */
export interface ConnectionFacts {
  /** The server's address; undefined for a unix socket, and while there is no connection. */
  readonly address: string | undefined;
  /** `machine`: a unix socket or the loopback. `private`: an address that is not routed over the internet. */
  readonly reach: "machine" | "private" | "public";
  readonly encrypted: boolean;
  /** Certificates are checked, as they are unless NODE_TLS_REJECT_UNAUTHORIZED is 0. */
  readonly verified: boolean;
  /** `default` is the user of a connection that names none. */
  readonly user: string;
  /** A password was given: servers refuse one that they do not ask for. */
  readonly password: boolean;
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8);
LOOPBACK.addAddress("::1", "ipv6");
const PRIVATE = new BlockList();
for (const [net, prefix] of [
  ["10.0.0.0", 8],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
  ["169.254.0.0", 16],
  ["100.64.0.0", 10],
] as const)
  PRIVATE.addSubnet(net, prefix);
PRIVATE.addSubnet("fc00::", 7, "ipv6");
PRIVATE.addSubnet("fe80::", 10, "ipv6");

export function reachOf(address: string | undefined): ConnectionFacts["reach"] {
  const version = isIP(address ?? "");
  if (address === undefined || version === 0) return "machine";
  const family = version === 6 ? "ipv6" : "ipv4";
  if (LOOPBACK.check(address, family)) return "machine";
  return PRIVATE.check(address, family) ? "private" : "public";
}

export function connectionFacts(redis: Redis, env: NodeJS.ProcessEnv = process.env): ConnectionFacts {
  const { tls, username, password } = redis.options;
  const address = redis.stream?.remoteAddress;
  return {
    address,
    reach: reachOf(address),
    encrypted: tls !== undefined,
    verified: env.NODE_TLS_REJECT_UNAUTHORIZED !== "0",
    user: username || "default",
    password: Boolean(password),
  };
}

/** Whether the server can be used without a password. */
export const requiresAuth = ({ reach, password }: ConnectionFacts): boolean => reach === "machine" || password;

/** Whether nobody can read along or pose as the server: where traffic may leave the premises, it is encrypted and the certificate verified. */
export const isConfidential = ({ reach, encrypted, verified }: ConnectionFacts): boolean =>
  reach === "machine" || (encrypted ? verified : reach === "private");
