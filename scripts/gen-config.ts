import { writeFile } from "node:fs/promises";
import { defaultYaml } from "../src/mounting/config/default-file.js";

// Writes config/default.yaml from the option table; test/unit/mounting/config/default-file.test.ts fails when it is stale.
await writeFile(new URL("../config/default.yaml", import.meta.url), defaultYaml());
