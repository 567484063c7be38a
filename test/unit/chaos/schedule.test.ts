import { expect, test } from "vitest";
import { EVENT_NAMES, PUT_NAMES } from "../../../chaos/plan/event-names.js";
import { RUNS } from "../../../chaos/plan/runs.js";
import { parseEvents, schedule } from "../../../chaos/plan/schedule.js";
import { planStep } from "../../../chaos/plan/step-plan.js";

const all = parseEvents("all");

test("the same seed gives the same events and the same puts, another seed others", () => {
  expect(schedule(1, 50, all.events)).toEqual(schedule(1, 50, all.events));
  expect(schedule(1, 50, all.events)).not.toEqual(schedule(2, 50, all.events));
  for (const run of RUNS) {
    const plan = (seed: number) => planStep({ seed, chosen: all }, run, 7);
    expect(plan(1)).toEqual(plan(1));
    expect(plan(1)).not.toEqual(plan(2));
  }
});

test("a long session meets every event", () => {
  const met = new Set(schedule(3, 100, all.events).flatMap((round) => round.map((event) => event.name)));
  expect([...met].sort()).toEqual([...EVENT_NAMES].sort());
});

test("events are chosen by name or by how their names begin", () => {
  expect(parseEvents("none")).toEqual({ events: [], puts: new Set() });
  expect(parseEvents("broker-,put-late")).toEqual({
    events: ["broker-kill", "broker-stop"],
    puts: new Set(["put-late"]),
  });
  expect(parseEvents("all").puts).toEqual(new Set(PUT_NAMES));
  expect(() => parseEvents("earthquake")).toThrow(/"earthquake" is no event; there are: redis-kill/);
});

test("every row of every field is put exactly once, whoever puts it", () => {
  for (const run of RUNS)
    for (let step = 1; step <= 40; step++) {
      const { first, others, content } = planStep({ seed: 5, chosen: all }, run, step);
      for (const { stage, whole, parts } of run.stages)
        for (const name of [...whole, ...parts]) {
          const pieces = [...first, ...others].filter((p) => p.stage === stage && name in p.fields);
          const keys = pieces.flatMap(({ rows }) => ("keys" in rows ? rows.keys : content.keys.slice(...rows.rows)));
          expect(keys.sort()).toEqual([...content.keys].sort());
        }
    }
});
