/** Variables that open what a worker may open and its plugins need not. */
const SECRETS: ReadonlySet<string> = new Set(["DFX_REDIS_URL", "REDIS_URL", "DFX_TOKEN", "REDISCLI_AUTH"]);

/** The environment of what runs plugins: a plugin that prints or sends its environment gives no password away. */
export function pluginEnv(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !SECRETS.has(name)));
}
