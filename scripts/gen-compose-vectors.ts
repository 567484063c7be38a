import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { composeVector } from "../test/helpers/compose-format.js";
import { COMPOSE_CASES } from "./vector-cases/compose.js";

/** Writes the golden vectors of the composition into test/vectors/compose; one that exists is never changed. */
const FOLDER = new URL("../test/vectors/compose/", import.meta.url);

mkdirSync(FOLDER, { recursive: true });
for (const [name, composeCase] of Object.entries(COMPOSE_CASES)) {
  const file = new URL(`${name}.json`, FOLDER);
  const json = `${JSON.stringify(composeVector(composeCase), null, 1)}\n`;
  if (existsSync(file)) {
    if (readFileSync(file, "utf8") === json) continue;
    throw new Error(`${name} would change; a vector that exists stays. Add another one.`);
  }
  writeFileSync(file, json);
  process.stdout.write(`wrote ${name}\n`);
}
