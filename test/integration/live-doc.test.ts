import { readFileSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import { EVENTS } from "../../src/observe/http/events.js";
import { LIVE_PATHS } from "../../src/observe/http/live-routes.js";
import { advantageStep, REWEIGHT, valuesOf } from "../helpers/batches.js";
import { eventually } from "../helpers/eventually.js";
import { useServed } from "../helpers/served.js";
import { shapeOf } from "../helpers/shape.js";

const doc = readFileSync(new URL("../../docs/live-page.md", import.meta.url), "utf8");
const served = useServed({});

/** A run like that of the page: a step that is done, and one that failed. */
beforeAll(async () => {
  const run = await served.client.mount({
    run_id: "qwen7b",
    dataflex: REWEIGHT,
    adv_estimator: "grpo",
    timeoutMs: 20_000,
  });
  const batch = advantageStep(valuesOf(1, 12));
  await run.put(1, "post_advantage", { ...batch });
  (await run.weights(1)).rolloutIsWeights(batch.response_mask);
  await run.release(1);
  await run.put(2, "post_advantage", { ...advantageStep([Number.NaN, 1]) });
  await run.weights(2).catch(() => {});
  await run.release(2);
});

const get = async (path: string): Promise<unknown> => (await fetch(`${served.broker.ready.http}${path}`)).json();
/** Headings of the page that name an address or an event, with the text below each. */
const sections = (level: string): Map<string, string> =>
  new Map(
    doc.split(/^(?=#{2,4} )/m).flatMap((part) => {
      const name = new RegExp(`^${level} \`([^\`]+)\``).exec(part)?.[1];
      return name === undefined ? [] : [[name, part] as const];
    }),
  );
const exampleOf = (part: string): unknown => JSON.parse(/```json\n([\s\S]*?)```/.exec(part)?.[1] ?? "null");

test("every address and event of the code stands on the page, and the reverse", () => {
  expect([...sections("###").keys()].sort()).toEqual([...LIVE_PATHS].sort());
  expect([...sections("####").keys()].sort()).toEqual([...EVENTS].sort());
});

test("each example has the shape of a real answer", async () => {
  const history = await eventually(async () => {
    const { records } = (await get("/api/v1/runs/qwen7b/steps")) as { records: unknown[] };
    const { workers } = (await get("/api/v1/workers")) as { workers: { last_job: number | null }[] };
    return records.length === 5 && workers[0]?.last_job && records;
  });
  expect(history).toHaveLength(5);
  const overview = (await get("/api/v1/overview")) as Record<string, unknown>;
  for (const [path, part] of sections("###")) {
    if (path === "/" || path.startsWith("/api/v1/events")) continue;
    const asked = path.split("?", 1)[0]!.replace(":run", "qwen7b").replace(":step", "1");
    const answer = shapeOf(await get(asked));
    const list = /^`\{"(\w+)": \[…\]\}` of the overview/m.exec(part)?.[1];
    const [run] = overview.runs as unknown[];
    const sent = path === "/api/v1/runs/:run" ? run : list ? { [list]: overview[list] } : exampleOf(part);
    expect([path, answer]).toEqual([path, shapeOf(sent)]);
  }
});

test("the events are as they were sent, and go on from an id", async () => {
  const abort = new AbortController();
  const { cursor } = (await get("/api/v1/overview")) as { cursor: string };
  const response = await fetch(`${served.broker.ready.http}/api/v1/events?after=0`, { signal: abort.signal });
  let text = "";
  for await (const part of response.body!) {
    text += Buffer.from(part).toString();
    if (text.includes("event: overview") && text.includes(`id: ${cursor}\n`)) break;
  }
  abort.abort();
  const data = (kind: string): unknown => JSON.parse(new RegExp(`event: ${kind}\\ndata: (.*)`).exec(text)![1]!);
  expect(shapeOf(data("hello"))).toEqual(shapeOf(exampleOf(sections("####").get("hello")!)));
  expect(shapeOf(data("overview"))).toEqual(shapeOf(await get("/api/v1/overview")));
  const { records } = (await get("/api/v1/runs/qwen7b/steps")) as { records: { id: string }[] };
  const sent = [...text.matchAll(/^id: (.*)\nevent: step\ndata: (.*)$/gm)].map(([, id, record]) => [
    id,
    JSON.parse(record!),
  ]);
  expect(sent).toEqual(records.map((record) => [record.id, record]));
});
