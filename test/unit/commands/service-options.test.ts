import { describe, expect, test } from "vitest";
import {
  argvOf,
  optionsOf,
  parseArgv,
  parseOptions,
  type ServiceOptions,
} from "../../../src/commands/services/service-options.js";

const BROKER: ServiceOptions = { redis: "redis://h:1", http: "127.0.0.1:0", token: "a-token-of-12" };
const WORKER: ServiceOptions = {
  redis: "unix:///tmp/r.sock",
  http: "[::1]:9464",
  slots: 3,
  backend: "tensorflow",
  plugin: ["./a.ts", "b"],
  computeLimitMs: 1_500,
  python: "/opt/venv/bin/python",
  device: "cuda:1",
  pythonMemoryMb: 4_096,
  pythonStartMs: 60_000,
};

describe("service options", () => {
  test.each([
    ["broker", BROKER],
    ["worker", WORKER],
    ["worker", {}],
    ["worker", { plugin: ["one"] }],
  ] as const)("of a %s are the same after the way through its command line", (role, options) => {
    expect(parseArgv(role, argvOf(options))).toEqual(options);
  });

  test("that are undefined leave no flag", () => {
    expect(argvOf({ redis: "r", slots: undefined, plugin: [] })).toEqual(["--redis", "r"]);
  });

  test.each([
    ["slots", "0", '--slots is "0"; it must be a whole number from 1 to 256'],
    ["slots", "257", '--slots is "257"; it must be a whole number from 1 to 256'],
    ["slots", "1.5", '--slots is "1.5"; it must be a whole number from 1 to 256'],
    ["workers", "", '--workers is ""; it must be a whole number from 1 to 256'],
    ["computeLimitMs", "86400001", '--compute-limit-ms is "86400001"; it must be a whole number from 1 to 86400000'],
    ["device", "gpu", 'device "gpu" is none of auto, cpu, cuda, cuda:N'],
    ["backend", "gpu", 'backend "gpu" is none of auto, cpu, tensorflow, tensorflow-gpu'],
    ["backend", "wasm", "its sums over large matrices are wrong"],
  ])("%s %j is refused by name and range", (name, text, message) => {
    expect(() => parseOptions(name === "workers" ? "all" : "worker", { [name]: text })).toThrow(message);
  });

  test("each command has its own, and help names flag and default", () => {
    const flags = (command: string) => optionsOf(command).map(([flag]) => flag);
    expect(flags("broker")).toEqual(["--redis <url>", "--http <host:port>", "--token <text>"]);
    expect(flags("worker")).toEqual([
      "--redis <url>",
      "--http <host:port>",
      "--slots <n>",
      "--backend <name>",
      "--plugin <file|package...>",
      "--compute-limit-ms <ms>",
      "--python <path>",
      "--device <name>",
      "--python-memory-mb <n>",
      "--python-start-ms <ms>",
      "--watch",
    ]);
    expect(flags("all")).toEqual([
      "--redis <url>",
      "--plugin <file|package...>",
      "--python <path>",
      "--device <name>",
      "--watch",
      "--workers <n>",
    ]);
    expect(flags("export")).toEqual([]);
    expect(Object.fromEntries(optionsOf("worker"))["--slots <n>"]).toMatch(/\(default 1\)$/);
    expect(Object.fromEntries(optionsOf("broker"))["--http <host:port>"]).toMatch(/\(default 127\.0\.0\.1:7411\)$/);
  });
});
