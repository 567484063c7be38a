import { type ConnectionFacts, isConfidential, requiresAuth } from "./connection-facts.js";
import type { Check } from "./finding.js";

const USERS =
  "sh config/redis/make-secrets.sh, then start Redis with --aclfile secrets/redis_users   (or: redis-cli CONFIG SET requirepass PASSWORD)";

/** Who has access to the server, and whether its traffic is protected. `config`: undefined if it was not requested or is hidden. */
export function connectionChecks(
  connection: ConnectionFacts,
  config: ReadonlyMap<string, string> | undefined,
): Check[] {
  return [acl(connection, config), tls(connection)];
}

function acl(connection: ConnectionFacts, config: ReadonlyMap<string, string> | undefined): Check {
  const name = "acl";
  const { user, password, address } = connection;
  if (!requiresAuth(connection)) {
    const text = `anyone who reaches ${address} may read, change and delete everything: the server asks for no password`;
    return { name, level: "critical", text, fix: USERS };
  }
  if (user !== "default") return { name, level: "ok", text: `user ${user}` };
  if (password) {
    const text = "connected as the default user, who may do everything; services need far less";
    return { name, level: "note", text, fix: "sh config/redis/make-secrets.sh   makes a user for each service" };
  }
  // From this machine without a password: does the server let others in the same way?
  const bound = (config?.get("bind") ?? "").split(" ").filter((at) => at !== "" && !/^-?(127\.|::1$)/.test(at));
  const open = config?.get("protected-mode") === "no" && config.get("port") !== "0" && bound.length > 0;
  if (!open) return { name, level: "ok", text: "no password, and only this machine reaches it" };
  const text = `no password, and it listens on ${bound.join(" ")} with protected-mode off`;
  return { name, level: "critical", text, fix: USERS };
}

function tls(connection: ConnectionFacts): Check {
  const name = "tls";
  const { reach, encrypted, verified, address } = connection;
  if (encrypted && !verified) {
    const text = "certificates are not checked (NODE_TLS_REJECT_UNAUTHORIZED=0): anybody may pose as the server";
    return {
      name,
      level: "critical",
      text,
      fix: "unset NODE_TLS_REJECT_UNAUTHORIZED; NODE_EXTRA_CA_CERTS=/path/to/ca.pem",
    };
  }
  if (!isConfidential(connection)) {
    const text = `everything travels in clear to ${address}`;
    return {
      name,
      level: "critical",
      text,
      fix: "--redis rediss://HOST:PORT   (a CA of your own: NODE_EXTRA_CA_CERTS=/path/to/ca.pem)",
    };
  }
  if (encrypted) return { name, level: "ok", text: "encrypted, certificate checked" };
  if (reach === "machine") return { name, level: "ok", text: "not encrypted, and nothing leaves this machine" };
  return { name, level: "ok", text: `not encrypted, inside the private network of ${address}` };
}
