import { DataflexError } from "../../errors.js";
import { readBoundedFile } from "../../read-file.js";

/** An address or a token has a few hundred. */
const SECRET_BYTES = 1 << 16;

type Env = Readonly<Record<string, string | undefined>>;

/** The page's token: as given, from DFX_TOKEN, or from the file that DFX_TOKEN_FILE names. Errors: USAGE for an unusable one. */
export function tokenOf(options: { readonly token?: string }, env: Env): string | undefined {
  const token = options.token ?? env.DFX_TOKEN ?? secretOf(env, "DFX_TOKEN_FILE");
  if (token === undefined || /^[\x21-\x7e]{8,}$/.test(token)) return token;
  throw new DataflexError("USAGE", "the page's token must be 8 or more printable ASCII characters without spaces");
}

/** Contents of the file that a variable names; undefined when the variable is not set. */
function secretOf(env: Env, variable: string): string | undefined {
  const file = env[variable];
  if (!file) return undefined;
  try {
    return readBoundedFile(file, SECRET_BYTES).toString("utf8").trim();
  } catch (error) {
    throw new DataflexError("USAGE", `${variable} names ${file}, which cannot be read: ${(error as Error).message}`, {
      file,
    });
  }
}

/** `--redis`, DFX_REDIS_URL, the file that DFX_REDIS_URL_FILE names (a mounted secret), REDIS_URL: the first that is set. */
export function redisAddress(options: { readonly redis?: string }, env: Env): string | undefined {
  return options.redis ?? env.DFX_REDIS_URL ?? secretOf(env, "DFX_REDIS_URL_FILE") ?? env.REDIS_URL;
}

/** The address to use, as `redisAddress`. Errors: USAGE with the line to type. */
export function redisUrlOf(options: { readonly redis?: string }, env: Env, command: string): string {
  const url = redisAddress(options, env);
  if (url) return url;
  throw new DataflexError(
    "USAGE",
    `no Redis address. Type: dataflex-mq ${command} --redis redis://127.0.0.1:6379   (or set DFX_REDIS_URL; a trial without one: dataflex-mq all)`,
  );
}
