/** How long a run that ended or fell silent is still shown. */
export const SILENT_MS = 15 * 60_000;
