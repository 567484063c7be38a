import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stringify } from "yaml";
import { eventually } from "./eventually.js";
import { freePort } from "./ports.js";

const RULES = fileURLToPath(new URL("../../config/prometheus/rules/*.yml", import.meta.url));

interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Prometheus {
  readonly url: string;
  /** An instant query's samples. Errors: the server's own words. */
  query(expr: string): Promise<Sample[]>;
  get<T>(path: string): Promise<T>;
  stop(): Promise<void>;
}

/** A real Prometheus with our rules, which scrapes the given addresses (`http://host:port`) by job, every second. */
export async function startPrometheus(jobs: Readonly<Record<string, readonly string[]>>): Promise<Prometheus> {
  const folder = mkdtempSync(join(tmpdir(), "dfx-prometheus-"));
  const config = {
    global: { scrape_interval: "1s", scrape_timeout: "1s", evaluation_interval: "1s" },
    rule_files: [RULES],
    scrape_configs: Object.entries(jobs).map(([job_name, addresses]) => ({
      job_name,
      static_configs: [{ targets: addresses.map((address) => new URL(address).host) }],
    })),
  };
  writeFileSync(join(folder, "prometheus.yml"), stringify(config));
  const port = await freePort();
  const child = spawn(
    "prometheus",
    [
      `--config.file=${join(folder, "prometheus.yml")}`,
      `--storage.tsdb.path=${join(folder, "data")}`,
      `--web.listen-address=127.0.0.1:${port}`,
      "--log.level=error",
    ],
    { stdio: ["ignore", "ignore", "inherit"] },
  );
  const url = `http://127.0.0.1:${port}`;
  const get = async <T>(path: string): Promise<T> => {
    const response = await fetch(`${url}${path}`);
    const body = (await response.json()) as { status: string; error?: string; data: T };
    if (body.status !== "success") throw new Error(`${path}: ${body.error}`);
    return body.data;
  };
  await eventually(async () => (await fetch(`${url}/-/ready`)).ok, { what: "a ready Prometheus", timeoutMs: 30_000 });
  return {
    url,
    get,
    async query(expr) {
      type Answer = { result: { metric: Record<string, string>; value: [number, string] }[] };
      const { result } = await get<Answer>(`/api/v1/query?query=${encodeURIComponent(expr)}`);
      return result.map(({ metric, value }) => ({ labels: metric, value: Number(value[1]) }));
    },
    async stop() {
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
