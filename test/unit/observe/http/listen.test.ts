import { describe, expect, test } from "vitest";
import { DataflexError } from "../../../../src/errors.js";
import { httpAddress, listenOf, parseListen } from "../../../../src/observe/http/listen.js";

describe("--http", () => {
  test.each([
    ["127.0.0.1:7411", { host: "127.0.0.1", port: 7411 }],
    ["0.0.0.0:0", { host: "0.0.0.0", port: 0 }],
    ["localhost:65535", { host: "localhost", port: 65_535 }],
    ["[::1]:9464", { host: "::1", port: 9464 }],
  ])("%s", (text, want) => {
    expect(parseListen(text)).toEqual(want);
  });

  test.each([
    ["7411", "--http 127.0.0.1:7411"],
    [":7411", "--http 127.0.0.1:7411"],
    ["127.0.0.1:", "write HOST:PORT"],
    ["127.0.0.1:70000", "port 70000 is above 65535"],
    ["127.0.0.1:-1", "write HOST:PORT"],
    ["http://127.0.0.1:7411", "without a scheme"],
    ["::1:7411", "[::1]:7411"],
    ["a b:1", "write HOST:PORT"],
    ["", "write HOST:PORT"],
  ])("refuses %j and says what to write", (text, hint) => {
    const error = (() => {
      try {
        parseListen(text);
      } catch (thrown) {
        return thrown;
      }
    })() as DataflexError;
    expect(error).toBeInstanceOf(DataflexError);
    expect(error.code).toBe("USAGE");
    expect(error.exitCode).toBe(2);
    expect(error.message).toContain(`"${text}"`);
    expect(error.message).toContain(hint);
  });

  test("the role's default is not explicit, a given address is", () => {
    expect(listenOf("broker", undefined)).toEqual({ host: "127.0.0.1", port: 7411, explicit: false });
    expect(listenOf("all", undefined)).toEqual({ host: "127.0.0.1", port: 7411, explicit: false });
    expect(listenOf("worker", undefined)).toEqual({ host: "127.0.0.1", port: 9464, explicit: false });
    expect(listenOf("worker", "127.0.0.1:9464")).toEqual({ host: "127.0.0.1", port: 9464, explicit: true });
  });

  test("an address can be typed into a browser", () => {
    expect(httpAddress("127.0.0.1", 80)).toBe("http://127.0.0.1:80");
    expect(httpAddress("::1", 80)).toBe("http://[::1]:80");
  });
});
