import { writeFileSync } from "node:fs";
import { builtinCatalogue } from "../src/mounting/catalogue/builtin.js";
import { componentsDoc } from "./components-doc.js";

/** Writes docs/components.md. Run with: npx tsx scripts/gen-components-doc.ts */
writeFileSync(new URL("../docs/components.md", import.meta.url), componentsDoc(builtinCatalogue().entries));
