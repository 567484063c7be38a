/** A trainer's process: `node --import tsx producer.ts REDIS_URL`, driven by JSON lines (protocol.ts). producer.py is the same in Python. */
import { createInterface } from "node:readline";
import { Client, DataflexError, type FieldInput, type Run, type SavedState, type Stage } from "dataflex-mq";
import type { Reply, Request } from "./protocol.js";

const client = await Client.connect({ redisUrl: process.argv[2] ?? "" });
let run: Run | undefined;

function mounted(): Run {
  if (run === undefined) throw new Error("nothing is mounted or attached");
  return run;
}

async function serve(request: Request): Promise<unknown> {
  switch (request.op) {
    case "mount":
      run = await client.mount({
        run_id: request.run,
        dataflex: request.dataflex,
        takeover: request.takeover,
        group_size: request.group,
        adv_estimator: "grpo",
        timeoutMs: 60_000,
      });
      return { incarnation: run.handle.incarnation };
    case "attach":
      run = await client.attach(request.run);
      return { incarnation: run.handle.incarnation };
    case "put":
      return mounted().put(
        request.step,
        request.stage as Stage,
        Object.fromEntries(Object.entries(request.fields).map(([name, values]) => [name, column(values)])),
        request.options,
      );
    case "weights": {
      const result = await mounted().weights(request.step, { timeoutMs: request.timeoutMs });
      const pipelines = result.pipelines.map((p) => [
        p.name,
        { weights: [...p.weights], proportions: p.proportions ?? null },
      ]);
      return {
        pipelines: Object.fromEntries(pipelines),
        combined: [...result.combined.weights],
        keys: result.keys ?? null,
      };
    }
    case "release":
      return mounted().release(request.step);
    case "mix_state":
      return mounted().mixState(request.pipeline);
    case "restore_mix_state":
      return mounted().restoreMixState(request.pipeline, request.state as SavedState);
    case "close":
      return client.close();
  }
}

/** Strings stay a list, numbers become a matrix (rows, width), as a trainer has them; a list of rows would say how long each is. */
function column(values: unknown): FieldInput {
  if (typeof (values as unknown[])[0] === "string") return values as string[];
  const rows = values as number[][];
  return { data: Float32Array.from(rows.flat()), shape: [rows.length, rows[0]?.length ?? 0] };
}

function reply(line: Reply): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

reply({ id: 0, value: "ready" });
for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line) as Request;
  serve(request).then(
    (value) => {
      reply({ id: request.id, value: value ?? null });
      if (request.op === "close") process.exit(0);
    },
    (thrown: unknown) => {
      // An error without a code is a fault of its own: the harness counts it as such.
      const code = thrown instanceof DataflexError ? thrown.code : `UNTYPED ${(thrown as Error)?.name}`;
      reply({ id: request.id, error: { code, message: String((thrown as Error)?.message ?? thrown) } });
    },
  );
}
// The harness that drove this process is gone.
process.exit(0);
