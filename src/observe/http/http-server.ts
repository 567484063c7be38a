import { type FastifyInstance, fastify } from "fastify";
import { DataflexError } from "../../errors.js";
import type { Check } from "../../lifecycle.js";
import type { Logger } from "../../log.js";
import { strangeHost } from "./access.js";
import { report, runChecks } from "./checks.js";
import { type HttpRole, httpAddress, type Listen } from "./listen.js";
import type { LiveData } from "./live-data.js";
import { addLivePage, LIVE_PATHS } from "./live-routes.js";

/** The page of a registry (or several). `text` must never wait for anything but memory: a scrape has a deadline. */
interface MetricsPage {
  readonly contentType: string;
  text(): Promise<string>;
}

export interface HttpOptions {
  readonly role: HttpRole;
  readonly listen: Listen;
  readonly metrics: MetricsPage;
  health(): Promise<readonly Check[]>;
  ready(): Promise<readonly Check[]>;
  readonly log: Logger;
  /** The live page, where this process serves one. `token`: the token that opens it. */
  readonly live?: { readonly data: LiveData; readonly token?: string };
}

export interface HttpServer {
  /** `http://host:port` as it really listens. */
  readonly address: string;
  /** Live pages with an open stream of events. */
  readonly streams: number;
  close(): Promise<void>;
}

const PATHS = ["/metrics", "/healthz", "/readyz"] as const;

/**
 * Serves /metrics, /healthz, /readyz and, where there is one, the live page. A default port that is taken gives way to a free one, so that a second broker on a laptop
 * starts; a port that was asked for does not, since scrapers would not find the service.
 *
 * @throws DataflexError USAGE naming the address: the explicit port is taken, forbidden or not of this machine; or others can reach
 * the page and it has no token.
 */
export async function startHttp(o: HttpOptions): Promise<HttpServer> {
  const app = buildApp(o);
  // Of every path: metrics, too, are for this machine where its address is. A token of the page opens it by any name.
  app.addHook("onRequest", async (request, reply) => {
    const reason = o.live?.token === undefined ? strangeHost(o.listen, request.headers.host) : undefined;
    if (reason !== undefined) return reply.code(403).send({ error: reason });
  });
  const feed = o.live && addLivePage(app, o.live.data, o.listen, o.live.token);
  const port = await listen(app, o.listen, o.log);
  return {
    address: httpAddress(o.listen.host, port),
    get streams() {
      return feed?.readers ?? 0;
    },
    close: () => app.close(),
  };
}

/** The app without a port, for tests that inject requests. */
export function buildApp(o: Omit<HttpOptions, "listen" | "log">): FastifyInstance {
  // Closing must not wait for a scraper's idle keep-alive connection; a run's name may be long.
  const app = fastify({ logger: false, forceCloseConnections: true, routerOptions: { maxParamLength: 1_000 } });
  const answer =
    (checks: () => Promise<readonly Check[]>) => async (_: unknown, reply: { code(status: number): unknown }) => {
      const body = report(o.role, await runChecks(checks));
      reply.code(body.status === "ok" ? 200 : 503);
      return body;
    };
  app.addHook("onSend", async (_, reply) => {
    reply.header("cache-control", "no-store");
    reply.header("x-content-type-options", "nosniff");
  });
  app.get("/metrics", async (_, reply) => {
    reply.header("content-type", o.metrics.contentType);
    return o.metrics.text();
  });
  app.get(
    "/healthz",
    answer(() => o.health()),
  );
  app.get(
    "/readyz",
    answer(() => o.ready()),
  );
  app.setNotFoundHandler(async (request, reply) => {
    reply.code(404);
    return {
      error: `nothing at ${request.method} ${request.url.split("?", 1)[0]}`,
      paths: o.live ? [...PATHS, ...LIVE_PATHS] : PATHS,
    };
  });
  return app;
}

async function listen(app: FastifyInstance, { host, port, explicit }: Listen, log: Logger): Promise<number> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (explicit || code !== "EADDRINUSE") {
      await app.close();
      throw refusal(host, port, code ?? String(error));
    }
    await app.listen({ host, port: 0 });
  }
  const address = app.server.address();
  const got = typeof address === "object" && address !== null ? address.port : port;
  if (got !== port && port !== 0)
    log.info({ port, instead: got }, "the default HTTP port is taken; another one is used");
  return got;
}

function refusal(host: string, port: number, code: string): DataflexError {
  const reasons: Record<string, string> = {
    EADDRINUSE: `port ${port} is taken by another process`,
    EACCES: `this user may not listen on port ${port}`,
    EADDRNOTAVAIL: `${host} is no address of this machine`,
    ENOTFOUND: `the host "${host}" has no address`,
  };
  const why = reasons[code] ?? code;
  return new DataflexError(
    "USAGE",
    `cannot listen on ${host}:${port}: ${why}. Choose another with --http HOST:PORT (port 0: any free one)`,
    {
      host,
      port,
      code,
    },
  );
}
