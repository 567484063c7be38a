import { parseArgs } from "node:util";
import { fuzz } from "../test/helpers/fuzz.js";

// Mutated messages into everything that a process reads: taken, or refused by one typed error, soon and in little memory.
//   npx tsx scripts/fuzz.ts --inputs 1000000 --seed 1
const { values } = parseArgs({ options: { inputs: { type: "string" }, seed: { type: "string" } } });
console.log(JSON.stringify(await fuzz(Number(values.inputs ?? 10_000), Number(values.seed ?? 1))));
