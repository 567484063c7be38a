/**
 * Preloaded into every Node process of the harness (NODE_OPTIONS=--import): SIGUSR2 moves its wall clock by the milliseconds that the
 * file DFX_CHAOS_CLOCK holds. Timers and performance.now stay as they are.
 */
import { readFileSync } from "node:fs";

const file = process.env.DFX_CHAOS_CLOCK;
const RealDate = Date;
let offset = 0;

function read() {
  try {
    offset = Number(readFileSync(file, "utf8")) || 0;
  } catch {
    offset = 0;
  }
}

if (file !== undefined) {
  globalThis.Date = class extends RealDate {
    constructor(...args) {
      if (args.length === 0) super(RealDate.now() + offset);
      else super(...args);
    }
    static now() {
      return RealDate.now() + offset;
    }
  };
  read();
  process.on("SIGUSR2", read);
}
