import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { protocolDoc } from "../../scripts/protocol-doc.js";

test("docs/protocol.md lists the keys and scripts as the code has them (npx tsx scripts/gen-protocol.ts)", () => {
  const text = readFileSync(new URL("../../docs/protocol.md", import.meta.url), "utf8");
  expect(protocolDoc(text)).toBe(text);
});
