/** What a column of uids says about its rows. */
export interface UidColumns {
  readonly uid: readonly string[];
  /** Absent when the uids carry none. */
  readonly session?: readonly string[];
  /** Where each row stands in its session; with `session`. */
  readonly session_index?: Int32Array;
  /** Absent when no row is padding. */
  readonly is_padding?: Uint8Array;
}

/** `{uid}_{session}_{index}`, as verl names the rows of its rollout files; the uid itself may hold underscores. */
const ROW_NAME = /^(.+)_(\d+)_(\d+)$/s;
/** A larger number (a timestamp, say) is part of a user's own id. */
const MAX_INDEX = 0x7fffffff;
/** verl pads a batch with rows of one group of this name. */
const PADDING_GROUP = /^pad[0-9a-f]{32}$/;

/**
 * Splits verl's row names. This is done only if *every* uid has that form: a data set's own ids may end in numbers
 * too, and splitting some of them would tear groups apart.
 */
export function readUids(uids: readonly string[]): UidColumns {
  const parts = uids.map((uid) => ROW_NAME.exec(uid));
  const isVerl = parts.every((part) => part !== null && Number(part[3]) <= MAX_INDEX);
  const groups = isVerl ? parts.map((part) => part![1]!) : uids;
  const padding = Uint8Array.from(groups, (group) => (PADDING_GROUP.test(group) ? 1 : 0));
  return {
    uid: groups,
    ...(isVerl && {
      session: parts.map((part) => part![2]!),
      session_index: Int32Array.from(parts, (part) => Number(part![3])),
    }),
    ...(padding.includes(1) ? { is_padding: padding } : {}),
  };
}
