import { defined } from "../../defined.js";
import { fulfilsWithin, ReleaseStack } from "../../lifecycle.js";
import { withRedis } from "../../redis/connect.js";
import { PREFIX } from "../../redis/keys.js";
import { brokerPresence, workerPresence } from "../../redis/presence.js";
import { startPrivateRedis } from "../../redis/private-server.js";
import { scanKeys } from "../../redis/scan-keys.js";
import type { OwnComponents } from "./own-components.js";
import { startServices } from "./spawn.js";

export interface CommandServices {
  readonly redisUrl: string;
  /** Started for this command, in processes of their own; false: they were running at the address already. */
  readonly own: boolean;
  /** Address of a broker's live page; undefined when no broker serves one. */
  readonly page: string | undefined;
}

export interface CommandServicesOptions {
  /** Absent: a private Redis, gone with the command. */
  readonly redisUrl?: string;
  readonly workers: number;
  /** For the workers that are started. */
  readonly components?: OwnComponents;
}

/** When a command ends there is no work left: a process that does not end on its own is stuck, and not waited for. */
const GRACE_MS = 2_000;
/** Cleaning up on a server that is gone would wait forever. */
const TIDY_MS = 3_000;

/**
 * Services for the time of one command. Without an address: a private Redis, a broker and workers. With one: the services that
 * run there, or, where none do, a broker and workers started for the occasion, whose keys are removed again.
 *
 * Whatever was started is stopped when `use` ends, however it ends; SIGINT and SIGTERM stop it too.
 */
export async function withServices<T>(
  options: CommandServicesOptions,
  use: (services: CommandServices) => Promise<T>,
): Promise<T> {
  const stack = new ReleaseStack();
  const onSignal = (signal: NodeJS.Signals): void => {
    const code = signal === "SIGINT" ? 130 : 143;
    stack.release().then(
      () => process.exit(code),
      () => process.exit(code),
    );
  };
  process.once("SIGINT", onSignal);
  process.once("SIGTERM", onSignal);
  try {
    return await use(await open(options, stack));
  } finally {
    process.off("SIGINT", onSignal);
    process.off("SIGTERM", onSignal);
    await stack.release();
  }
}

async function open(options: CommandServicesOptions, stack: ReleaseStack): Promise<CommandServices> {
  const { redisUrl } = options;
  if (redisUrl === undefined) {
    const redis = await startPrivateRedis();
    stack.push(() => redis.stop());
    return { redisUrl: redis.url, own: true, page: await start(redis.url, options, stack) };
  }
  const living = await servicesAt(redisUrl);
  if (living.count > 0) return { redisUrl, own: false, page: living.page };
  const before = new Set(await withRedis(redisUrl, "command", (redis) => scanKeys(redis, `${PREFIX}:`)));
  stack.push(() => bestEffort(() => removeKeysSince(redisUrl, before)));
  return { redisUrl, own: true, page: await start(redisUrl, options, stack) };
}

async function start(
  redisUrl: string,
  { workers, components }: CommandServicesOptions,
  stack: ReleaseStack,
): Promise<string | undefined> {
  const services = await startServices({ redisUrl, brokers: 1, workers, ...defined({ components }) });
  stack.push(() => Promise.all(services.processes.map((process) => process.stop(GRACE_MS))));
  return services.processes.find((process) => process.role === "broker")?.ready.http;
}

const servicesAt = (redisUrl: string): Promise<{ count: number; page: string | undefined }> =>
  withRedis(redisUrl, "command", async (redis) => {
    const [brokers, workers] = await Promise.all([brokerPresence.alive(redis), workerPresence.alive(redis)]);
    return { count: brokers.length + workers.length, page: brokers.find((b) => b.http !== undefined)?.http };
  });

/** Removes what our services left on the user's Redis: keys added since, unless other services have started there meanwhile. */
async function removeKeysSince(redisUrl: string, before: ReadonlySet<string>): Promise<void> {
  if ((await servicesAt(redisUrl)).count > 0) return;
  await withRedis(redisUrl, "command", async (redis) => {
    const added = (await scanKeys(redis, `${PREFIX}:`)).filter((key) => !before.has(key));
    if (added.length > 0) await redis.unlink(...added);
  });
}

/**
 * Runs a clean-up that must neither hide the error that led to it nor keep a command from ending: its own errors are dropped
 * (what stays behind carries a TTL), and it is abandoned after 3 s.
 */
export async function bestEffort(cleanUp: () => Promise<unknown>): Promise<void> {
  await fulfilsWithin(cleanUp(), TIDY_MS);
}
