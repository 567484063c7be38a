/** Variables that give access to what only the worker, not its plugins, may use. */
const SECRETS: ReadonlySet<string> = new Set(["DFX_REDIS_URL", "REDIS_URL", "DFX_TOKEN", "REDISCLI_AUTH"]);

/** The environment for threads and processes that run plugins: a plugin that prints or sends its environment reveals no password. */
export function pluginEnv(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !SECRETS.has(name)));
}
