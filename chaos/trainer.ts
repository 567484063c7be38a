import { setTimeout as pause } from "node:timers/promises";
import type { SavedState } from "dataflex-mq";
import { runKeys } from "../src/redis/keys.js";
import { doubled } from "./check/doubled.js";
import { type Answer, wrongWith } from "./check/judge.js";
import { MixMemory } from "./check/mix-memory.js";
import type { Tally } from "./check/tally.js";
import { Random } from "./plan/random.js";
import { MAX_WAIT_MS, type RunSpec } from "./plan/runs.js";
import { type PlanOptions, planStep, type StepPlan } from "./plan/step-plan.js";
import { collect } from "./producers/collect.js";
import { type AskOwner, Crew, Interrupted } from "./producers/crew.js";
import { Died, Hung, Refused } from "./producers/producer-process.js";
import type { World } from "./world/world.js";

/** How often a step is done again after refusals that are explained. */
const TRIES = 8;
const AGAIN_MS = 500;
/** Trains one run step by step as a trainer does, and judges what it gets. */
export class Trainer extends Crew {
  readonly #tally: Tally;
  readonly #plan: PlanOptions;
  readonly #mix: MixMemory | undefined;
  /** The last step that is done; a resumed trainer may go back to before it. */
  #done = 0;

  constructor(world: World, spec: RunSpec, plan: PlanOptions, tally: Tally) {
    super(world, spec, `${spec.name}-${plan.seed}`);
    this.#tally = tally;
    this.#plan = plan;
    this.#mix = spec.name === "domains" ? new MixMemory() : undefined;
  }

  /** Trains up to and including `last`, whatever happens. */
  async train(last: number): Promise<void> {
    while (this.#done < last) {
      const steps = Array.from(
        { length: Math.min(this.spec.inFlight, last - this.#done) },
        (_, i) => this.#done + 1 + i,
      );
      const ended = await Promise.allSettled(steps.map((step) => this.#step(planStep(this.#plan, this.spec, step))));
      const failed = ended.find((e) => e.status === "rejected");
      if (failed === undefined) this.#done += steps.length;
      else if (failed.reason instanceof Interrupted) await this.#resume();
      else throw failed.reason;
    }
  }

  /** A new trainer takes the run over and goes on from a checkpoint up to two steps back. */
  async #resume(): Promise<void> {
    this.#tally.resumed++;
    const random = new Random(this.#plan.seed, this.spec.name, "resume", this.#tally.resumed);
    await this.takeOver(random.pick(["ts", "py"]));
    if (this.#mix === undefined) return;
    this.#done = Math.max(0, this.#done - random.int(0, 3));
    const state = this.#mix.goBackTo(this.#done);
    if (state) await this.#patiently(() => this.restore(state));
  }

  async #step(plan: StepPlan): Promise<void> {
    const owner = this.asOwner();
    const at = `run ${this.spec.name} step ${plan.step}`;
    let why = "";
    for (let attempt = 0; attempt < TRIES; attempt++) {
      const began = performance.now();
      // A short timeout ends only the attempt that it was chosen for.
      const patienceMs = attempt === 0 ? plan.patienceMs : MAX_WAIT_MS;
      try {
        const answer = await collect({ owner, ranks: this }, plan, patienceMs, attempt > 0);
        await this.#judge(owner, plan, answer, at);
        return;
      } catch (error) {
        if (error instanceof Interrupted) throw error;
        if (error instanceof Died) continue;
        if (error instanceof Hung) return this.#giveUp(owner, plan, "hung", `${at}: ${error.message}`);
        if (!(error instanceof Refused)) throw error;
        why = `${at}: ${error.code} ${error.message} (after ${Math.round(performance.now() - began)} ms; ${this.world.ledger.during(began).join(", ") || "no event"})`;
        if (!this.#allowed(error, began, patienceMs)) {
          await this.#giveUp(owner, plan, "lost", why);
          if (error.code !== "FENCED") return;
          // A fenced trainer must stop, whether it was fenced rightly or not; another one goes on.
          if (this.owner) await this.world.kill(this.owner);
          throw new Interrupted();
        }
        this.#tally.refuse(error.code);
        await pause(AGAIN_MS);
      }
    }
    await this.#giveUp(owner, plan, "lost", `${why}, ${TRIES} times`);
  }

  /** A trainer that goes on without a step's weights still says that it is done with the step. */
  async #giveUp(owner: AskOwner, plan: StepPlan, verdict: "hung" | "lost", why: string): Promise<void> {
    this.#tally.add(verdict, why);
    await owner({ op: "release", step: plan.step }, MAX_WAIT_MS).catch((error: unknown) => {
      if (error instanceof Interrupted) throw error;
    });
  }

  #allowed({ code }: Refused, began: number, patienceMs: number): boolean {
    if (code === "TIMEOUT" && patienceMs < MAX_WAIT_MS) return performance.now() - began >= patienceMs;
    return this.world.ledger.explains(code, began);
  }

  async #judge(owner: AskOwner, plan: StepPlan, answer: Answer, at: string): Promise<void> {
    const twice = await doubled(this.world.redis.raw, runKeys(this.run).step(this.incarnation, `${plan.step}.0`).out);
    const memory = await this.#mix?.remember(plan, () =>
      this.#patiently(() => owner<SavedState>({ op: "mix_state", pipeline: "mix" }, MAX_WAIT_MS)),
    );
    if (memory?.forgot) this.#tally.forgot++;
    const forgotten =
      memory?.forgot && !this.world.ledger.lostSince(memory.since)
        ? "its mixer forgot steps though Redis lost nothing"
        : undefined;
    const wrong = wrongWith(plan, answer, memory?.histories ?? []) ?? forgotten;
    if (wrong) this.#tally.add("wrong", `${at}: ${wrong}`);
    else this.#tally.add("right");
    if (twice) this.#tally.add("doubled", `${at}: ${twice}`);
    await this.#patiently(() => owner({ op: "release", step: plan.step }, MAX_WAIT_MS));
  }

  /** Does something again, as a trainer would, as long as events explain why it was refused. */
  async #patiently<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      const began = performance.now();
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof Refused) || !this.world.ledger.explains(error.code, began)) throw error;
        this.#tally.refuse(error.code);
        await pause(AGAIN_MS);
      }
    }
  }
}
