import type { Overview } from "../status/overview-types.js";

/** A record of a step as it is sent to live pages; `id` is where a reader resumes after a break. */
export interface LiveEvent {
  readonly id: string;
  /** JSON. */
  readonly data: string;
}

/** What the page and its API need. Reads from Redis; may reject while that is away. */
export interface LiveData {
  overview(): Promise<Overview>;
  /** Records of a run, as JSON texts, ascending. */
  steps(
    run: string,
    query: { readonly after?: string; readonly limit: number; readonly every: number },
  ): Promise<{ readonly records: readonly string[]; readonly read_to: string | undefined }>;
  step(run: string, step: number): Promise<{ readonly records: readonly unknown[]; readonly rows: unknown }>;
  /** Events after an id, ascending. `gap`: some of them are gone. */
  events(after: string): Promise<{ readonly events: readonly LiveEvent[]; readonly gap: boolean }>;
  config(): object;
}
