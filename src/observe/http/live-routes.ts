import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { defined } from "../../defined.js";
import { fulfilsWithin } from "../../lifecycle.js";
import { accessRule } from "./access.js";
import { EventFeed } from "./events.js";
import type { Listen } from "./listen.js";
import type { LiveData } from "./live-data.js";
import { PAGE_POLICY, readPageFiles } from "./page-files.js";

export const LIVE_PATHS = [
  "/",
  "/api/v1/overview",
  "/api/v1/runs",
  "/api/v1/runs/:run",
  "/api/v1/runs/:run/steps?after=&limit=&every=",
  "/api/v1/runs/:run/steps/:step",
  "/api/v1/workers",
  "/api/v1/queues",
  "/api/v1/errors",
  "/api/v1/config",
  "/api/v1/events?after=",
] as const;

type BarePath<P> = P extends `${infer Bare}?${string}` ? Bare : P;
/** An address without its query: nothing is served that the list above, and with it docs/live-page.md, does not name. */
type ApiPath = BarePath<(typeof LIVE_PATHS)[number]>;

/** A request does not wait longer than this for a Redis that is away. */
const ANSWER_MS = 5_000;
const DEFAULT_RECORDS = 500;
const MOST_RECORDS = 20_000;
const ID = /^\d{1,16}(-\d{1,16})?$/;

type Query = Readonly<Record<string, string | undefined>>;
type Params = Readonly<Record<string, string>>;

/**
 * Adds the live page and its API, read-only. Returns its event feed, which counts its readers. `/metrics`, `/healthz` and `/readyz` stay
 * open: they contain no row ids or texts.
 * @throws DataflexError USAGE when others can reach the address and there is no token.
 */
export function addLivePage(
  app: FastifyInstance,
  live: LiveData,
  listen: Listen,
  token: string | undefined,
): { readonly readers: number } {
  const rule = accessRule(listen, token);
  const feed = new EventFeed(live);
  app.addHook("onClose", async () => feed.close());
  app.register(async (scope) => {
    scope.addHook("onRequest", async (request, reply) => {
      const { host, authorization, cookie } = request.headers;
      const answer = rule({ url: request.url, host, authorization, cookie });
      if (answer.word === "keep") return reply.header("set-cookie", answer.cookie).redirect(answer.location, 303);
      if (answer.word === "out") return reply.code(answer.status).send({ error: answer.reason });
    });
    addPage(scope);
    addApi(scope, live);
    scope.get("/api/v1/events", (request, reply) => {
      const after = readId(request.headers["last-event-id"]) ?? readId((request.query as Query).after);
      reply.hijack();
      if (after !== undefined) return feed.add(reply.raw, after);
      live.overview().then(
        ({ cursor }) => feed.add(reply.raw, cursor),
        () => reply.raw.destroy(),
      );
    });
  });
  return feed;
}

function addPage(scope: FastifyInstance): void {
  for (const [path, { type, body }] of readPageFiles()) {
    scope.get(path, async (_, reply) => {
      reply.header("content-type", type).header("content-security-policy", PAGE_POLICY);
      reply.header("referrer-policy", "no-referrer");
      return reply.send(body);
    });
  }
}

function addApi(scope: FastifyInstance, live: LiveData): void {
  const get = (path: ApiPath, answer: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>): void => {
    scope.get(path, async (request, reply) => {
      const answered = answer(request, reply);
      if (await fulfilsWithin(answered, ANSWER_MS)) return answered;
      return reply.code(503).send({ error: "Redis does not answer; to find out why: dataflex-mq doctor" });
    });
  };
  get("/api/v1/overview", () => live.overview());
  get("/api/v1/runs", async () => ({ runs: (await live.overview()).runs }));
  get("/api/v1/runs/:run", async (request, reply) => {
    const run = runOf(request);
    const found = (await live.overview()).runs.find((r) => r.run === run);
    return found ?? reply.code(404).send({ error: `no run of that name is mounted`, run });
  });
  get("/api/v1/runs/:run/steps", async (request, reply) => {
    const query = request.query as Query;
    const after = readId(query.after);
    const limit = readCount(query.limit, DEFAULT_RECORDS);
    const every = readCount(query.every, 1);
    if (limit === undefined || every === undefined || (query.after !== undefined && after === undefined)) {
      return reply
        .code(400)
        .send({ error: "after is an id as in answers (0: from the start); limit and every are whole numbers from 1" });
    }
    const run = runOf(request);
    const answer = await live.steps(run, { limit, every, ...defined({ after }) });
    reply.header("content-type", "application/json; charset=utf-8");
    return `{"run":${JSON.stringify(run)},"read_to":${JSON.stringify(answer.read_to ?? null)},"records":[${answer.records.join(",")}]}`;
  });
  get("/api/v1/runs/:run/steps/:step", async (request, reply) => {
    const run = runOf(request);
    const { step } = request.params as Params;
    if (!/^\d{1,15}$/.test(step!)) return reply.code(400).send({ error: "a step is a whole number" });
    return live.step(run, Number(step));
  });
  get("/api/v1/workers", async () => ({ workers: (await live.overview()).workers }));
  get("/api/v1/queues", async () => ({ queues: (await live.overview()).queues }));
  get("/api/v1/errors", async () => ({ errors: (await live.overview()).errors }));
  get("/api/v1/config", async () => live.config());
}

/** The run that an address names; `~.` and `~..` are `.` and `..`, which browsers would take for places above. */
export const runOfSegment = (segment: string): string => (/^~+\.{1,2}$/.test(segment) ? segment.slice(1) : segment);

const runOf = (request: FastifyRequest): string => runOfSegment((request.params as Params).run ?? "");

function readId(text: string | string[] | undefined): string | undefined {
  return typeof text === "string" && ID.test(text) ? text : undefined;
}
function readCount(text: string | undefined, absent: number): number | undefined {
  if (text === undefined) return absent;
  return /^[1-9]\d{0,6}$/.test(text) ? Math.min(Number(text), MOST_RECORDS) : undefined;
}
