const float = (text: string) => ({ $float: text });

export const MESSAGE_CASES: Readonly<Record<string, { about: string; value: unknown }>> = {
  "message-integers": {
    about: "Whole numbers within ±2^53 are integers in their shortest form.",
    value: [0, 127, 128, 255, 256, 65535, 65536, 4294967295, 4294967296, 1795955573689, 9007199254740992].flatMap(
      (n) => (n === 0 ? [0] : [n, -n]),
    ),
  },
  "message-floats": {
    about: "Everything else is a float64.",
    value: [
      0.5,
      0.1,
      float("-0"),
      float("NaN"),
      float("Infinity"),
      float("-Infinity"),
      float("9007199254740994"),
      1e-300,
    ],
  },
  "message-plain": {
    about: "The other types: null, booleans, strings, bytes, arrays, maps.",
    value: {
      nil: null,
      yes: true,
      no: false,
      text: "é🦊",
      long: "x".repeat(40),
      bytes: { $bin: "00ff80" },
      list: [[], {}],
    },
  },
  "result-header": {
    about: "A result of row weights: one vector of 4 f32 in the body.",
    value: {
      v: 1,
      kind: "result",
      pipeline: "main",
      mechanism: "reweight",
      stage: "post_advantage",
      attempt: 1,
      granularity: "row",
      rows: 4,
      width: 16,
      columns: [{ name: "weights", enc: "dense", dtype: "f32", shape: [4], parts: { values: [0, 16] } }],
      bytes: 16,
      chunks: 1,
      chunk_bytes: 1048576,
      stats: {
        n: 4,
        mean: 1,
        std: 0.25,
        min: 0.75,
        max: 1.25,
        ess_ratio: 0.9411764705882353,
        kept_ratio: 1,
        zero_ratio: 0,
      },
      metrics: { kept_frac: 1 },
      flags: [],
      warnings: [],
      timings: { decode: 0.25, score: 1.5 },
      producer: { worker: "w1", pid: 4242, job_id: "r_1795955573689_7_main_0_1" },
    },
  },
  "failure-header": {
    about: "A typed failure.",
    value: {
      v: 1,
      kind: "failure",
      pipeline: "main",
      stage: "post_advantage",
      attempt: 1,
      code: "NON_FINITE",
      message: "advantages is NaN in row 3, column 17",
      details: { field: "advantages", row: 3, column: 17 },
      producer: { worker: "w1", pid: 4242, job_id: "r_1795955573689_7_main_0_1" },
    },
  },
};

/** Bytes that every reader refuses. */
export const REFUSED_CASES: Readonly<Record<string, { about: string; hex: string }>> = {
  "refused-cut": { about: "A map cut one byte short.", hex: "81a161" },
  "refused-joined": { about: "Two messages in one place.", hex: "81a1610181a16102" },
  "refused-huge-array": { about: "An array that declares 2^32 - 1 entries and has one.", hex: "ddffffffff01" },
  "refused-extension": { about: "msgpackr's record extension.", hex: "d4724091a16101" },
  "refused-timestamp": { about: "msgpack's timestamp extension.", hex: "d6ff00000000" },
  "refused-integer-key": { about: "A map keyed by row number.", hex: "8100cb3ff0000000000000" },
  "refused-key-twice": { about: "A key given twice.", hex: "82a16101a16102" },
  "refused-proto": { about: "The key __proto__.", hex: "81a95f5f70726f746f5f5f80" },
  "refused-uint64": { about: "The integer 2^53 + 1.", hex: "cf0020000000000001" },
  "refused-int64": { about: "The integer -2^53 - 1.", hex: "d3ffdfffffffffffff" },
  "refused-utf8": { about: "A string that is not UTF-8.", hex: "a2c328" },
  "refused-depth": { about: "Seventeen arrays in each other.", hex: `${"91".repeat(16)}90` },
  "refused-empty": { about: "No byte at all.", hex: "" },
};
