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
