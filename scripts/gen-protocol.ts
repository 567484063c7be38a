import { readFileSync, writeFileSync } from "node:fs";
import { protocolDoc } from "./protocol-doc.js";

const file = new URL("../docs/protocol.md", import.meta.url);
writeFileSync(file, protocolDoc(readFileSync(file, "utf8")));
