import { basename } from "node:path";
import type { Check } from "../lifecycle.js";
import type { Logger } from "../log.js";
import type { Catalogue } from "../mounting/catalogue/catalogue-entry.js";
import { workerCatalogues } from "../mounting/catalogue/worker-catalogues.js";
import { STAGES } from "../protocol/stages.js";
import { queueName } from "../redis/keys.js";
import type { PythonBeat } from "../redis/presence.js";
import { ComputeHost } from "./compute/host.js";
import { splitPlugins } from "./python/plugin-files.js";
import { pythonCheck, pythonReport } from "./python/python-report.js";
import { type PythonSlots, startPython } from "./python/python-slots.js";
import { WORKER_DEFAULTS, type WorkerOptions } from "./worker-options.js";

/** What a worker runs at one time: its components as they were when it started or was reloaded, and a host a slot that computes with them. */
export class ComponentSet {
  /** The built-ins' first; a second one holds a plugin's components as well. */
  readonly catalogues: readonly Catalogue[];
  /** Where tensors live. */
  backend = "";
  readonly #hosts: readonly ComputeHost[];
  readonly #idle: ComputeHost[];
  readonly #python: PythonSlots | undefined;
  readonly #plugins: readonly string[];

  private constructor(catalogues: readonly Catalogue[], hosts: readonly ComputeHost[], o: Made) {
    this.catalogues = catalogues;
    this.#hosts = hosts;
    this.#idle = [...hosts];
    this.#python = o.python;
    this.#plugins = o.plugins;
  }

  /** Loads the plugins, starts everything. @throws DataflexError PLUGIN, BACKEND, COMPUTE_LOST; nothing stays then. */
  static async open(options: WorkerOptions, log: Logger): Promise<ComponentSet> {
    const { plugins = [], slots = WORKER_DEFAULTS.slots, backend = WORKER_DEFAULTS.backend } = options;
    const files = splitPlugins(plugins);
    const python = files.python.length > 0 ? await startPython(files.python, slots, log, options.python) : undefined;
    let set: ComponentSet | undefined;
    try {
      const declared = python?.ready.components ?? [];
      const catalogues = await workerCatalogues(files.modules, declared);
      const setup = { backend, plugins: files.modules, python: declared, fingerprint: catalogues.at(-1)!.fingerprint };
      const hosts = Array.from({ length: slots }, (_, slot) => new ComputeHost(setup, python?.slots[slot]));
      set = new ComponentSet(catalogues, hosts, { python, plugins });
      for (const host of hosts) set.backend = await host.start();
      return set;
    } catch (error) {
      await (set ?? python)?.stop();
      throw error;
    }
  }

  /** Of the catalogue that holds everything. */
  get fingerprint(): string {
    return this.catalogues.at(-1)!.fingerprint;
  }
  get fingerprints(): string[] {
    return this.catalogues.map((catalogue) => catalogue.fingerprint);
  }
  get queues(): string[] {
    return this.fingerprints.flatMap(queuesOf);
  }
  get files(): string {
    return this.#plugins.map((plugin) => basename(plugin)).join(", ");
  }
  get hosts(): readonly ComputeHost[] {
    return this.#hosts;
  }
  /** No job is at work in it. */
  get isIdle(): boolean {
    return this.#idle.length === this.#hosts.length;
  }
  get isReady(): boolean {
    return this.#hosts.every((host) => host.isUp && host.pythonIsUp);
  }
  get python(): PythonBeat | undefined {
    return this.#python && pythonReport(this.#python, this.#hosts);
  }

  checks(): Check[] {
    const down = this.#hosts.filter((host) => !host.isUp).length;
    const reason = down > 0 ? `${down} of ${this.#hosts.length} did not start; each job tries again` : "up";
    return [{ name: "compute", ok: down === 0, reason }, ...(this.#python ? [pythonCheck(this.#python)] : [])];
  }

  /** Whether a job of one of its queues could be worked on now: what may need Python is left to others while no process is there. */
  mayTake(queue: string): boolean {
    return this.#idle.some((host) => host.pythonIsUp || !this.#isOwn(queue));
  }

  /** A host for a job of this queue; undefined while all are at work. Those without their Python process take what needs none. */
  take(queue: string): ComputeHost | undefined {
    const own = this.#isOwn(queue);
    const fitting = this.#idle.findLastIndex((host) => host.pythonIsUp === own);
    const [host] = this.#idle.splice(fitting >= 0 ? fitting : this.#idle.length - 1, 1);
    return host;
  }

  giveBack(host: ComputeHost): void {
    this.#idle.push(host);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#hosts.map((host) => host.stop()));
    await this.#python?.stop();
  }

  /** Queues beyond those of the built-ins. */
  #isOwn(queue: string): boolean {
    return this.catalogues.length > 1 && queuesOf(this.fingerprint).includes(queue);
  }
}

interface Made {
  readonly python: PythonSlots | undefined;
  readonly plugins: readonly string[];
}

export function queuesOf(fingerprint: string): string[] {
  return STAGES.map((stage) => queueName(stage, fingerprint));
}
