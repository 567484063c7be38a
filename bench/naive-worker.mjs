// The worker of the naive job: decodes base64, weighs in plain loops, encodes base64.
import { Worker } from "bullmq";

const connection = { path: process.argv[2].replace("unix://", ""), maxRetriesPerRequest: null };
const floats = (text) => new Float32Array(new Uint8Array(Buffer.from(text, "base64")).buffer);
const worker = new Worker(
  "naive",
  async ({ name, data }) => {
    const [rows, width] = data.shape;
    const [values, mask] = [floats(data.values), floats(data.mask)];
    const weights = new Float32Array(values.length);
    for (let i = 0; i < rows; i++) {
      let sum = 0;
      let live = 0;
      for (let at = i * width; at < (i + 1) * width; at++) {
        if (mask[at] !== 1) continue;
        weights[at] = name === "advantages" ? Math.abs(values[at]) : 0.5 * Math.exp(values[at]) + 0.5;
        sum += weights[at];
        live++;
      }
      for (let at = i * width; at < (i + 1) * width; at++) weights[at] *= live / sum;
    }
    return Buffer.from(weights.buffer).toString("base64");
  },
  { connection, prefix: "bench:{n}" },
);
await worker.waitUntilReady();
process.send("ready");
