import { DataflexError, type ErrorCode } from "./errors.js";

/**
 * The sentences of errors that are raised in several places or by both clients, under their code, with a reason where a code has several.
 * `python/src/dataflex_mq/sentences.py` has the same ones; a test compares them. Durations (`{time}`) carry their unit.
 */
const SENTENCES = {
  // mount
  "NO_BROKER.none": "no broker answered the mount within {time} and none is alive. Start one: dataflex-mq broker",
  "NO_BROKER.silent": "{brokers} broker(s) are alive, but none answered the mount within {time}",
  NO_WORKER: "no worker appeared within {time}. Start one: dataflex-mq worker",
  NOT_MOUNTED: 'run "{run}" is not mounted: its trainer must call mount first',
  FENCED: 'run "{run}": incarnation {incarnation} was replaced by a later trainer; this one must stop',
  // put
  PUT_CONFLICT: "this put was made before with different content. Pass {replace} if the new content is right",
  "ROWS_CONFLICT.total_rows": "total_rows is {total_rows}, but the first put of the step said {detail}",
  "ROWS_CONFLICT.keys": "the keys are not those that the first put of the step fixed",
  "ROWS_CONFLICT.no_keys": "this put names keys, but the first put of the step named none",
  "ROWS_CONFLICT.stage_rows": "the rows are not among those that the first put of this stage named",
  "ROWS_CONFLICT.overlap":
    'some of these rows of field "{detail}" were already put, by a put of another range or other fields',
  "ROWS_CONFLICT.unknown_keys": '{count} key(s) are not in the row table of this step, the first is "{first}"',
  "ROWS_CONFLICT.stage_total":
    "total_rows is {total_rows}, but the first put of stage {stage} named {rows} of the {all} rows of the step",
  "ROWS_CONFLICT.unseen":
    'row {row} was put at a later stage only: pipeline "{pipeline}" ({stage}) gave it no weight. Put it at {stage} as well',
  "CHUNKS_MISSING.put": "the put's chunks did not stay in Redis ({found} of {chunks} found): is it losing keys?",
  "CHUNKS_MISSING.read": "{key}: {wanted} chunks wanted, {found} found",
  "INVALID_INPUT.index_alone":
    "session_index says where a row stands in its session, and no session was put: put session with it",
  "INVALID_INPUT.session_alone": "session tells the rows of one uid apart: put it together with uid",
  "INVALID_INPUT.index_value":
    "session_index holds no index in row {row}: send whole numbers from 0, below 2^31, one per row",
  "INVALID_INPUT.index_twice":
    'rows {first} and {row} both have index {index} in session "{session}" of uid "{uid}": the highest index counts, so each needs its own',
  "INVALID_INPUT.some_rows":
    "row(s) {rows} have no {column}, and others of this step have one: put {column} for every row, or for none",
  "INVALID_INPUT.no_mask":
    'field "{field}" has one number a row, and no response_mask says which tokens that is for: put response_mask with it, or before',
  "INVALID_INPUT.keep":
    'field "{field}" has {length} entries, and the step {rows} rows: keep takes fields with one entry a row',
  "INVALID_INPUT.misspelt":
    'field "{given}" is not wanted at {stage}, and "{wanted}", which is, is missing: rename it, or leave it out',
  RELEASED: "step {step} was released: it takes no more puts, and its weights are gone",
  "USAGE.undelivered":
    'no delivered pipeline is called "{pipeline}"; delivered: {delivered}. Name one of them, or none for all together',
  // waiting
  TIMEOUT: "no weights from pipeline {names} for step {step} within {time}: {why}",
  "TIMEOUT.settled": "the trainer stopped waiting after {time}: {why}",
  "TIMEOUT.silent": "Redis has not answered for the last few seconds (its address, its network, its load?)",
  "CLOSED.client": "this client was closed: connect another",
  "CLOSED.run": 'run "{run}" was closed by this client',
  // Redis
  REDIS_UNREACHABLE: "{what}: Redis has not answered within {time}. Is it up? Try again once it answers",
  REDIS_FULL:
    "Redis is full (maxmemory reached under noeviction), so nothing was stored. Raise maxmemory or release steps, then try again",
  "REDIS_REFUSED.READONLY":
    "{what}: the server that answers is a replica and takes no writes ({word}). A failover is under way, or the address names a replica: name the master",
  "REDIS_REFUSED.MASTERDOWN":
    "{what}: the server that answers is a replica that has lost its master ({word}). A failover is under way, or the address names a replica: name the master",
  "REDIS_REFUSED.MISCONF":
    "{what}: Redis cannot save its data and takes no writes ({word}). Look into its log: is its disk full, or its folder not writable?",
  "REDIS_REFUSED.LOADING": "{what}: Redis is still reading its data from the disk ({word}). Try again once it has",
  "REDIS_REFUSED.NOREPLICAS":
    "{what}: Redis has fewer replicas than its min-replicas-to-write and takes no writes ({word}). Start replicas, or lower the setting",
  "REDIS_REFUSED.BUSY":
    "{what}: a script keeps Redis busy and nothing else is served ({word}). On the server: redis-cli SCRIPT KILL",
  "REDIS_REFUSED.CLUSTERDOWN":
    "{what}: the cluster does not serve these keys at present ({word}). Try again once its slots are covered",
  "REDIS_REFUSED.EXECABORT": "{what}: Redis aborted a transaction ({answer}). Try again",
  REDIS_DENIED:
    "{what}: the Redis user lacks a right ({answer}). Grant it what sh config/redis/make-secrets.sh grants, or name another user in the address",
} as const satisfies Readonly<Partial<Record<ErrorCode | `${ErrorCode}.${string}`, string>>>;

type SentenceKey = keyof typeof SENTENCES;
type Holes<T extends string> = T extends `${string}{${infer Name}}${infer Rest}` ? Name | Holes<Rest> : never;
type Facts<K extends SentenceKey> = Readonly<Record<Holes<(typeof SENTENCES)[K]>, string | number>>;

/** A sentence with its holes filled. */
export function sentence<K extends SentenceKey>(key: K, facts: Facts<K>): string {
  const given: Readonly<Record<string, string | number>> = facts;
  return SENTENCES[key].replace(/\{(\w+)\}/g, (_, name: string) => String(given[name]));
}

/** The error of a sentence. @param details what programs get; default: the facts. */
export function errorOf<K extends SentenceKey>(
  key: K,
  facts: Facts<K>,
  details: Readonly<Record<string, unknown>> = facts,
  options?: { cause?: unknown },
): DataflexError {
  return new DataflexError(codeOf(key), sentence(key, facts), details, options);
}

function codeOf(key: SentenceKey): ErrorCode {
  return key.split(".")[0] as ErrorCode;
}
