/** What an event does to the system: decides which refusals it explains. */
export type Effect = "unreachable" | "full" | "loss" | "worker" | "broker" | "owner" | "rank" | "clock";

/** What producers may do to a step; each is part of some steps while it is among the chosen events. */
export const PUTS = {
  "put-split": "a step's rows come in parts, from the owner and its ranks",
  "put-repeated": "a put is made twice",
  "put-replaced": "other content is put first, then replaced",
  "put-late": "a part comes when the wait has begun",
  "put-reordered": "keys of the rows in another order in every put but the first",
  "put-early": "the trainer asks for the weights seconds after it has put",
  "put-impatient": "the trainer gives up after some milliseconds, and puts the step again",
} as const;
export type PutName = keyof typeof PUTS;

/** Every event of the harness. `effects`: what users may see of it; nothing else may go wrong. */
export const EVENTS = {
  "redis-kill": { effects: ["unreachable"], says: "Redis killed, back with its append-only file" },
  "redis-power": {
    effects: ["unreachable", "loss"],
    says: "Redis killed, its append-only file cut to what it was a second before",
  },
  "redis-fresh": { effects: ["unreachable", "loss"], says: "Redis killed, back without data" },
  "redis-flush": { effects: ["loss"], says: "FLUSHALL" },
  "redis-promote": {
    effects: ["unreachable", "loss"],
    says: "Redis lost, a replica that lags up to a second takes over",
  },
  "redis-demote": {
    effects: ["unreachable", "loss"],
    says: "as redis-promote, and old connections stay open to the old master, now read-only",
  },
  "redis-freeze": { effects: ["unreachable"], says: "Redis stopped (SIGSTOP) for up to 6 s" },
  "redis-full": { effects: ["full"], says: "maxmemory reached for up to 3 s" },
  "client-kill": { effects: ["unreachable"], says: "CLIENT KILL of every connection" },
  "client-pause": { effects: ["unreachable"], says: "CLIENT PAUSE for up to 3 s" },
  "wire-cut": { effects: ["unreachable"], says: "connections of one side cut" },
  "wire-lossy": { effects: ["unreachable"], says: "one in twenty commands of one side loses its answer, up to 3 s" },
  "wire-half-open": { effects: ["unreachable"], says: "connections of one side pass nothing any more and do not end" },
  "wire-slow": { effects: ["unreachable"], says: "20–150 ms each way for one side, up to 3 s" },
  "broker-kill": { effects: ["broker"], says: "a broker killed; another starts" },
  "broker-stop": { effects: ["broker"], says: "a broker stopped (SIGSTOP) for up to 12 s" },
  "worker-kill": { effects: ["worker"], says: "a worker killed; another starts" },
  "worker-stop": { effects: ["worker"], says: "a worker stopped (SIGSTOP) for up to 12 s" },
  "owner-kill": { effects: ["owner"], says: "a trainer killed; another takes over and goes on from a checkpoint" },
  "owner-stop": { effects: ["owner"], says: "a trainer stopped (SIGSTOP) for up to 6 s" },
  "owner-usurp": {
    effects: ["owner"],
    says: "a trainer takes a run over while the old one is stopped; the old one wakes and is fenced",
  },
  "rank-kill": { effects: ["rank"], says: "an attached producer killed; another puts its rows again" },
  "rank-stop": { effects: ["rank"], says: "an attached producer stopped (SIGSTOP) for up to 6 s" },
  "clock-jump": { effects: ["clock"], says: "the wall clock of one process jumps by up to an hour" },
} as const satisfies Record<string, { effects: readonly Effect[]; says: string }>;

export type EventName = keyof typeof EVENTS;
export const EVENT_NAMES = Object.keys(EVENTS) as EventName[];
export const PUT_NAMES = Object.keys(PUTS) as PutName[];
