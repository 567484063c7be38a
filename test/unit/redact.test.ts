import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { redactText, redactUrl } from "../../src/redact.js";

// Python's client is held to the same file.
const file = new URL("../fixtures/addresses.json", import.meta.url);
const ADDRESSES = JSON.parse(readFileSync(file, "utf8")) as [given: string, shown: string][];

test.each(ADDRESSES)("%s is shown as %s", (given, shown) => {
  expect(redactUrl(given)).toBe(shown);
});

test("addresses within a text, each up to where it ends", () => {
  const text = '{"a":"redis://me:secret@h:1/0","b":"x"} then unix://secret@p and http://h:7411/?token=secret';
  expect(redactText(text)).toBe('{"a":"redis://me:***@h:1/0","b":"x"} then unix://***@p and http://h:7411/?token=***');
  expect(redactText("no address: a@b, c://")).toBe("no address: a@b, c://");
});
