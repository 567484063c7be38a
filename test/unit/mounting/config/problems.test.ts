import { describe, expect, it } from "vitest";
import { DataflexError } from "../../../../src/errors.js";
import {
  configError,
  locateProblems,
  pathText,
  problemsOf,
  problemText,
} from "../../../../src/mounting/config/problems.js";

const problem = { path: ["dataflex", "clip", 1], message: "too low", suggestion: "raise it" };

describe("problems", () => {
  it("writes paths as people do", () => {
    expect(pathText(["dataflex", "clip", 1])).toBe("dataflex.clip[1]");
    expect(pathText([])).toBe("");
  });

  it("puts place, path, message and suggestion together", () => {
    const [located] = locateProblems([problem], { file: "c.yaml", locate: () => ({ line: 4, col: 7 }) });
    expect(located && problemText(located)).toBe("c.yaml:4:7  dataflex.clip[1]\n  too low; raise it");
    expect(problemText(problem)).toBe("dataflex.clip[1]\n  too low; raise it");
    const long = problemText({ ...problem, suggestion: "x".repeat(200) });
    expect(long.split("\n")).toHaveLength(3);
  });

  it("packs all problems into one error and gets them back, through a process boundary too", () => {
    const error = configError([{ ...problem, file: "c.yaml" }, problem]);
    expect(error.code).toBe("CONFIG");
    expect(error.exitCode).toBe(2);
    expect(error.message).toMatch(/^2 problems in c.yaml\n/);
    const again = DataflexError.fromFailure(structuredClone(error.toFailure()));
    expect(problemsOf(again)).toHaveLength(2);
    expect(problemsOf(new DataflexError("CONFIG", "x"))).toBeUndefined();
  });
});

describe("names from a hostile file", () => {
  it("control characters are shown, not run; a megabyte is cut", () => {
    const text = problemText({ path: ["dataflex", "a\u001b[31m"], message: `unknown "b\u0007\nc" ${"x".repeat(1e6)}` });
    expect(text).toContain("a\\u001b[31m");
    expect(text).toContain('"b\\u0007\\u000ac"');
    expect(text.length).toBeLessThan(2200);
  });
});
