/** How serious a finding is, mildest first. `critical` breaks runs or loses steps; `note` is worth knowing. */
export const LEVELS = ["ok", "note", "warning", "critical"] as const;
export type Level = (typeof LEVELS)[number];

/** One sentence about the system, and the command that fixes it, or what to do. */
export interface Finding {
  readonly level: Level;
  readonly text: string;
  readonly fix?: string;
}

/** The finding of one check, by the check's name. */
export interface Check extends Finding {
  readonly name: string;
}
