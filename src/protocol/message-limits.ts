/** Bounds of a control message (headers, handles, settings): far above any real one, far below what hurts. */
export interface MessageLimits {
  readonly maxBytes: number;
  readonly maxDepth: number;
  readonly maxStringBytes: number;
}

export const MESSAGE_LIMITS: MessageLimits = Object.freeze({
  maxBytes: 64 << 20,
  maxDepth: 16,
  maxStringBytes: 1 << 20,
});

/** A mount request: a `dataflex` block has a few thousand bytes. Checked where it is written and where it is read. */
export const MAX_REQUEST_BYTES = 1 << 20;
