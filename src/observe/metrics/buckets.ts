/** Seconds. Batches and slow backends need the tail up to two minutes. */
export const LATENCY_BUCKETS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120,
] as const;

/** Seconds, where every run has such a histogram and its mean is what is looked at. */
export const WAIT_BUCKETS = [0.01, 0.1, 0.5, 1, 5, 30, 120] as const;

/** Of the bounds that weights and scores are counted by those that a picture of many steps needs: each is a series for each pipeline. */
export const WEIGHT_BUCKETS = [0, 0.1, 0.5, 0.75, 0.9, 1, 1.1, 1.5, 2, 3, 5, 10, 100] as const;
export const SCORE_BUCKETS = [-1, -0.1, 0, 0.25, 0.5, 0.75, 1, 2, 10] as const;

/** Bytes: 1 KiB × 4^k up to 1 GiB. */
export const BYTE_BUCKETS = [
  1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864, 268_435_456, 1_073_741_824,
] as const;
