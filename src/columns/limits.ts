export interface Limits {
  readonly chunk_bytes: number;
  /** Bodies up to this size are sent inside scripts' answers instead of chunk streams. */
  readonly inline_bytes: number;
  readonly max_put_bytes: number;
  readonly max_rows: number;
  readonly max_width: number;
  /** Tokens in scope of one column, of a put and of a whole step: a few bytes may stand for any number of them. */
  readonly max_tokens: number;
  readonly max_string_bytes: number;
  /** Every per-step key lives at most this long after the last access. */
  readonly step_ttl_ms: number;
}

/**
 * What a decoder accepts unless the handle says otherwise.
 *
 * `chunk_bytes`: smaller chunks cost more commands; larger ones stall Redis for other clients while one entry is copied.
 * `inline_bytes`: bodies up to this size save a round trip; larger ones would make the scripts slow.
 * `max_put_bytes`, `max_rows`, `max_width`: a bound on what one message can make a process allocate.
 * `max_tokens`: 4,096 responses of 16,384 tokens; a worker computes with some 14 bytes a token.
 * `max_string_bytes`: ids and domain names are short; anything longer is text in the wrong column.
 * `step_ttl_ms`: a shorter TTL would lose slow steps; a longer one keeps the tensors of a dead trainer in memory.
 */
export const DEFAULT_LIMITS: Limits = Object.freeze({
  chunk_bytes: 1 << 20,
  inline_bytes: 64 << 10,
  max_put_bytes: 4 * 1024 ** 3,
  max_rows: 1 << 20,
  max_width: 1 << 20,
  max_tokens: 1 << 26,
  max_string_bytes: 1024,
  step_ttl_ms: 3_600_000,
});
