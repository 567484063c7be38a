import { expect, test } from "vitest";
import { pack } from "../../../src/protocol/codec.js";
import { encodeFrame, FrameReader } from "../../../src/worker/python/frames.js";

test("a frame arrives in any pieces, its bodies aligned to 64 bytes", () => {
  const bodies = [new Uint8Array([1, 2, 3]), new Uint8Array(0), new Uint8Array(100).fill(7)];
  const whole = Buffer.concat(encodeFrame({ kind: "call", at: 1 }, bodies));
  const reader = new FrameReader();
  const frames = [...whole].flatMap((byte) => reader.push(Uint8Array.of(byte)));
  expect(frames.map(({ header }) => header)).toEqual([{ kind: "call", at: 1, bodies: [3, 0, 100] }]);
  expect(frames[0]!.bodies.map((body) => [...body])).toEqual(bodies.map((body) => [...body]));
  expect(frames[0]!.bodies.map((body) => body.byteOffset % 64)).toEqual([0, 0, 0]);
});

test("sizes above 4 GiB, which Python packs as 64-bit integers, are numbers", () => {
  const header = pack({ memory: { rss_bytes: 5 * 2 ** 30 }, bodies: [] });
  const frame = new Uint8Array(64);
  new DataView(frame.buffer).setUint32(0, header.byteLength, true);
  frame.set(header, 4);
  expect(new FrameReader().push(frame)[0]?.header).toEqual({ memory: { rss_bytes: 5 * 2 ** 30 }, bodies: [] });
});
