import { checkComponent, mixHistory, runMixer } from "dataflex-mq/testing";
import { expect, test } from "vitest";
import { leastSeen } from "./least-seen.js";

test("keeps what every component promises", () => checkComponent(leastSeen));

test("gives more to the domain that had fewer rows", () => {
  // Three steps; the second domain had rows in the first of them only.
  const history = mixHistory([
    [0.5, 0.5],
    [0.5, null],
    [0.5, null],
  ]);
  expect(runMixer(leastSeen, history)).toEqual([1 / 4 / (1 / 4 + 1 / 2), 1 / 2 / (1 / 4 + 1 / 2)]);
});
