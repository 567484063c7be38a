import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { redactUrl, shownText } from "../../src/redact.js";

// Python's client is held to the same file.
const file = new URL("../fixtures/addresses.json", import.meta.url);
const ADDRESSES = JSON.parse(readFileSync(file, "utf8")) as [given: string, shown: string][];

test.each(ADDRESSES)("%s is shown as %s", (given, shown) => {
  expect(redactUrl(given)).toBe(shown);
});

test("addresses within a text, each up to where it ends", () => {
  const text = '{"a":"redis://me:secret@h:1/0","b":"x"} then unix://secret@p and http://h:7411/?token=secret';
  expect(shownText(text)).toBe('{"a":"redis://me:***@h:1/0","b":"x"} then unix://***@p and http://h:7411/?token=***');
  expect(shownText("no address: a@b, c://")).toBe("no address: a@b, c://");
});

test("what a terminal would obey is shown, not done", () => {
  expect(shownText("a\u001b[31mb\r\u0007\u009b2J\u202e\tc\n")).toBe("a\\u001b[31mb\\u000d\\u0007\\u009b2J\\u202e\tc\n");
  expect(JSON.parse(shownText(JSON.stringify("\u009b2J \u001b")))).toBe("\u009b2J \u001b");
});
