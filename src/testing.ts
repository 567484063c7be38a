/** `dataflex-mq/testing`: what an author of components needs to test them. */
export { seededRng } from "./scoring/batch/rng.js";
export { setBackend } from "./scoring/batch/tensor-backend.js";
export { type CheckOptions, checkComponent } from "./testing/check-component.js";
export { type FakeField, type FakeOptions, fakeBatch } from "./testing/fake-batch.js";
export { type HistoryOptions, mixHistory } from "./testing/mix-history.js";
export type { PropertyName } from "./testing/properties.js";
export { type PlainScores, type RunOptions, run } from "./testing/run-component.js";
export { runMixer } from "./testing/run-mixer.js";
export { type PolicyRunOptions, runPolicy } from "./testing/run-policy.js";
