import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventList, parseOptions, USAGE } from "./options.js";
import { preparePython } from "./python.js";
import { Session, type SessionOptions } from "./session.js";
import { World } from "./world/world.js";

async function chaos(options: SessionOptions): Promise<boolean> {
  const site = mkdtempSync(join(tmpdir(), "dfx-chaos-site-"));
  const began = performance.now();
  let world: World | undefined;
  const stop = async (): Promise<void> => {
    await world?.destroy();
    rmSync(site, { recursive: true, force: true });
  };
  // A second signal does not wait.
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => void stop().finally(() => process.exit(130)));
  try {
    world = new World(preparePython(site));
    await world.open();
    const session = new Session(world, options);
    await session.run((line) => process.stdout.write(`${line}\n`));
    for (const what of await world.close()) session.tally.add("left over", what);
    const events = [...world.ledger.count()].map(([name, n]) => `${name} ${n}`).join(", ") || "none";
    const seconds = Math.round((performance.now() - began) / 1000);
    process.stdout.write(
      `\nseed ${options.seed}: ${session.tally.ended} steps in ${seconds} s\n${session.tally.table()}\n  events     ${events}\n`,
    );
    return session.tally.clean;
  } finally {
    await stop();
  }
}

try {
  const options = parseOptions(process.argv.slice(2));
  if (options.kind === "help") process.stdout.write(`${USAGE}\n`);
  else if (options.kind === "list") process.stdout.write(`${eventList()}\n`);
  else process.exitCode = (await chaos(options)) ? 0 : 1;
} catch (error) {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exitCode = 2;
}
