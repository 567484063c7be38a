import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DEFAULT_LIMITS } from "../../../src/columns/limits.js";
import { DataflexError } from "../../../src/errors.js";
import {
  checkHandle,
  checkJobData,
  checkMountReply,
  checkMountRequest,
  checkOutcomeHeader,
  checkPutHeader,
  checkReleaseReport,
} from "../../../src/protocol/check-messages.js";
import { pack, unpack } from "../../../src/protocol/codec.js";
import type { PutHeader } from "../../../src/protocol/messages.js";
import { checkMountReport } from "../../../src/redis/mount-report.js";
import { executionOf, resultOf, specOf } from "../../helpers/executions.js";

const putHeader = {
  v: 2,
  id: "abc",
  hash: "f00d",
  stage: "post_reward",
  total_rows: 8,
  rows: [0, 2, 4, 6],
  columns: [{ name: "rm_scores", enc: "dense", dtype: "f32", shape: [4], parts: { values: [0, 16] } }],
  bytes: 16,
  chunks: 1,
  chunk_bytes: 1_048_576,
};
const { stats } = resultOf();
const handle = {
  v: 2,
  run: "r",
  incarnation: 1_795_955_573_689,
  mount_id: "m",
  limits: DEFAULT_LIMITS,
  stages: { post_advantage: [{ name: "advantages", scope: "mask" }, { name: "uid" }] },
  pipelines: [specOf()],
  composition: { combine: "multiply", clip: [0, 2], rescale: "none" },
  max_wait_ms: 1_000,
  on_unavailable: "error",
  warnings: [],
};
const failure = {
  v: 2,
  kind: "failure",
  pipeline: "main",
  stage: "post_reward",
  attempt: 1,
  code: "NON_FINITE",
  message: "m",
  details: { row: 3 },
  producer: { worker: "w", pid: 1, job_id: "j", version: "1" },
};
const extremes = { rows: [4, 0], weights: [0, 2], scores: [1, 2], uids: ["a", "b"] };
const distribution = { weights: { counts: [1], sum: 1, quantiles: [1] }, scores: { counts: [2], sum: 2 } };

const CHECKS: Readonly<Record<string, [check: (value: unknown) => unknown, sample: object]>> = {
  "put header": [checkPutHeader, putHeader],
  job: [checkJobData, executionOf().job],
  "outcome header, a result": [checkOutcomeHeader, resultOf({ extremes, distribution, proportions: { math: 1 } })],
  "outcome header, a failure": [checkOutcomeHeader, failure],
  "release report": [
    checkReleaseReport,
    { wait_ms: 1, combined: { level: "token", stats, product: stats, clipped: { low: 0, high: 0 } } },
  ],
  "mount report": [checkMountReport, { version: "1", settings: { "main.window": "16" } }],
  handle: [checkHandle, handle],
  "mount request": [
    checkMountRequest,
    { v: [2], kind: "mount", mount_id: "m", run: "r", dataflex: {}, takeover: false, deadline: 1 },
  ],
  "mount reply": [checkMountReply, { state: "answered", answer: { ok: true, handle } }],
};

/** What a broken, hostile or newer writer may have put in a key's place. */
const junk = fc.oneof(
  fc.constantFrom<unknown>(null, 0, -1, 0.5, 1e-300, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, "", "text", true),
  fc.constantFrom<unknown>([], {}, [null], [[1]], { a: null }, new Uint8Array(3)),
  fc.anything(),
);

type Path = readonly (string | number)[];
function pathsOf(value: unknown, at: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return [at];
  return [at, ...Object.entries(value).flatMap(([key, inner]) => pathsOf(inner, [...at, key]))];
}
function replaced(value: unknown, [key, ...rest]: Path, by: unknown): unknown {
  if (key === undefined) return by;
  const copy = structuredClone(value) as Record<string | number, unknown>;
  copy[key] = replaced(copy[key], rest, by);
  return copy;
}
function removed(value: unknown, path: Path): unknown {
  const copy = structuredClone(value);
  let inner = copy as Record<string | number, unknown>;
  for (const key of path.slice(0, -1)) inner = inner[key] as Record<string | number, unknown>;
  delete inner[path.at(-1)!];
  return copy;
}
function refusal(check: (value: unknown) => unknown, value: unknown): DataflexError | undefined {
  try {
    check(value);
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(DataflexError);
    return error as DataflexError;
  }
}

describe.each(Object.entries(CHECKS))("the check of a %s", (_, [check, sample]) => {
  const paths = pathsOf(sample);

  test("passes a sound one on unchanged, with keys of a newer version in it", () => {
    expect(check(unpack(pack(sample)))).toEqual(sample);
    expect(check({ ...sample, newer: { key: 1 } })).toEqual({ ...sample, newer: { key: 1 } });
  });

  test("any value in any place is passed or refused as DECODE naming a key", () => {
    const mutation = fc.record({ path: fc.constantFrom(...paths), by: junk });
    fc.assert(
      fc.property(mutation, ({ path, by }) => {
        const error = refusal(check, replaced(sample, path, by));
        if (error) expect([error.code, typeof error.details.key]).toEqual(["DECODE", "string"]);
      }),
      { numRuns: 500 },
    );
  });

  test("null where a value belongs names that key", () => {
    for (const path of paths.filter((p) => p.length === 1)) {
      if (path[0] === "dataflex") continue;
      const error = refusal(check, replaced(sample, path, null));
      expect([path, error?.code, String(error?.details.key).split(/[.[]/)[0]]).toEqual([path, "DECODE", path[0]]);
    }
  });

  test("a key that is missing is named, where it may not be", () => {
    for (const path of paths.filter((p) => p.length === 1)) {
      const error = refusal(check, removed(sample, path));
      if (error) expect([error.code, error.details.key]).toEqual(["DECODE", path[0]]);
    }
  });
});

describe("a put header", () => {
  const bad: [keyof PutHeader, unknown][] = [
    ...[undefined, null, 0, Number.NaN, 0.5, "1048576", 1e-300, -1, 2 ** 53].map(
      (v) => ["chunk_bytes", v] as [keyof PutHeader, unknown],
    ),
    ...[Number.NaN, -1, null, 2 ** 53].map((v) => ["bytes", v] as [keyof PutHeader, unknown]),
    ["chunks", 2],
    ["rows", [0, 3]],
    ["rows", [0, 2, 2]],
    ["rows", [4, 6, 0, 2]],
    ["rows", [6, 10]],
    ["stage", "in_loss"],
  ];
  test.each(bad)("whose %s is %s is refused by that key", (key, value) => {
    const error = refusal(checkPutHeader, { ...putHeader, [key]: value });
    expect(error?.code).toBe("DECODE");
    // A wrong size may show first in the number of chunks that it asks for, wrong rows in the columns that are not of them.
    expect(error?.message).toMatch(new RegExp(key));
  });

  test.each([[null], [undefined], ["text"], [[]], [new Uint8Array(4)]])("that is %s is refused", (value) => {
    expect(refusal(checkPutHeader, value)?.code).toBe("DECODE");
  });

  test("without rows or bytes is sound", () => {
    const empty = { ...putHeader, rows: [], columns: [], bytes: 0, chunks: 0 };
    expect(checkPutHeader(empty)).toBe(empty);
  });
});
