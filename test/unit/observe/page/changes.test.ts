import { expect, test } from "vitest";
import { changesOf } from "../../../../src/observe/page/changes.js";
import { mountRecord, result } from "./records.js";

const BASE = {
  "main.mechanism": "reweight",
  "main.actuator.params.temperature": "1",
  "composition.rescale": "none",
};
const mounts = (...all: ReturnType<typeof mountRecord>[]) => new Map(all.map((m) => [m.incarnation, m]));

test("a first life has no change; a second one shows what was changed, from its first step on", () => {
  const both = mounts(
    mountRecord(1, BASE),
    mountRecord(2, { ...BASE, "main.actuator.params.temperature": "2", "main.window": "50" }),
  );
  expect(changesOf([result(1), result(2)], both)).toEqual([]);
  expect(changesOf([result(1), result(2), result(3, 2), result(4, 2)], both)).toEqual([
    { step: 3, text: "main.actuator.temperature 1 → 2; main.window unset → 50" },
  ]);
});

test("the same settings again are a restart; so is a life whose mount is not known", () => {
  const steps = [result(1), result(2, 2)];
  expect(changesOf(steps, mounts(mountRecord(1, BASE), mountRecord(2, BASE)))).toEqual([
    { step: 2, text: "trainer restarted" },
  ]);
  expect(changesOf(steps, mounts(mountRecord(2, BASE)))).toEqual([{ step: 2, text: "trainer restarted" }]);
});

test("a mount without a step leaves no mark: what it changed is shown with the first step after it", () => {
  const all = mounts(mountRecord(1, BASE), mountRecord(2, { ...BASE, "main.window": "9" }), mountRecord(3, BASE));
  expect(changesOf([result(1), result(2, 3)], all)).toEqual([{ step: 2, text: "trainer restarted" }]);
});

test("a pipeline that comes or goes is one change, and long lists are cut", () => {
  const second = { "b.x.mechanism": "select", "b.x.stage": "post_reward" };
  const [with_, without] = [mountRecord(1, { ...BASE, ...second }), mountRecord(2, BASE)];
  expect(changesOf([result(1), result(2, 2)], mounts(with_, without))[0]?.text).toBe("pipeline b.x removed");
  const back = mountRecord(3, { ...BASE, ...second });
  expect(changesOf([result(1, 2), result(2, 3)], mounts(without, back))[0]?.text).toBe("pipeline b.x added");
  const many = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`main.p${i}`, "1"]));
  const text = changesOf([result(1, 2), result(2, 4)], mounts(without, mountRecord(4, { ...BASE, ...many })))[0]!.text;
  expect(text).toMatch(/^main.p0 unset → 1; .*; 5 more$/);
});

test("another version of the broker shows at its mount, of a worker at its first step", () => {
  const both = mounts(mountRecord(1, BASE), mountRecord(2, BASE, "1.1.0"));
  expect(changesOf([result(1), result(2, 2, "1.0.0"), result(3, 2, "1.1.0")], both)).toEqual([
    { step: 2, text: "broker version 1.0.0 → 1.1.0" },
    { step: 3, text: "worker version 1.0.0 → 1.1.0" },
  ]);
});

test("workers of two versions that take turns are one change, a version that comes back later is another", () => {
  const turns = Array.from({ length: 60 }, (_, i) => result(i + 1, 1, i % 2 ? "2.0.0" : "1.0.0"));
  expect(changesOf(turns, mounts()).map((c) => c.step)).toEqual([2]);
  const back = [result(1), ...Array.from({ length: 80 }, (_, i) => result(i + 2, 1, "2.0.0")), result(90)];
  expect(changesOf(back, mounts()).map((c) => c.step)).toEqual([2, 90]);
});
