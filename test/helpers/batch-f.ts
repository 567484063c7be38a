import { type FakeOptions, fakeBatch } from "../../src/testing.js";
import { fixtureF, recordedF } from "./fixture-f.js";

/** Fixture F as a batch, in any encoding. */
export function batchF(options: FakeOptions = {}) {
  const { fields } = recordedF();
  return fakeBatch({ ...(fields as Record<string, number[][]>), uid: fixtureF.uid }, options);
}
