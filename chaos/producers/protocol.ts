/** What the harness asks of a producer process, a JSON line each; answered by a line with the same `id`, in any order. */
export type Request = { readonly id: number } & (
  | {
      readonly op: "mount";
      readonly run: string;
      readonly dataflex: object;
      readonly takeover: boolean;
      readonly group: number;
    }
  | { readonly op: "attach"; readonly run: string }
  | {
      readonly op: "put";
      readonly step: number;
      readonly stage: string;
      readonly fields: Readonly<Record<string, readonly (string | readonly number[])[]>>;
      readonly options: {
        readonly keys?: readonly string[];
        readonly rows?: readonly [number, number];
        readonly total_rows?: number;
        readonly replace: boolean;
      };
    }
  | { readonly op: "weights"; readonly step: number; readonly timeoutMs: number }
  | { readonly op: "release"; readonly step: number }
  | { readonly op: "mix_state"; readonly pipeline: string }
  | { readonly op: "restore_mix_state"; readonly pipeline: string; readonly state: object }
  | { readonly op: "close" }
);

export type Reply = { readonly id: number } & (
  | { readonly value: unknown }
  | { readonly error: { readonly code: string; readonly message: string } }
);

/** A request without its number. */
export type Ask = Request extends infer R ? (R extends Request ? Omit<R, "id"> : never) : never;
