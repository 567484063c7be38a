import { detailSections } from "../src/commands/cli/component-text.js";
import type { CatalogueEntry } from "../src/mounting/catalogue/catalogue-entry.js";
import { KINDS } from "../src/scoring/components/component-types.js";
import { usesTable } from "./uses-table.js";

/** docs/components.md, whole: the same text that `dataflex-mq components NAME` prints, for every built-in component. */
export function componentsDoc(entries: readonly CatalogueEntry[]): string {
  const kinds = KINDS.map((kind) => ({ kind, own: entries.filter((entry) => entry.kind === kind) }));
  const shown = kinds.filter(({ own }) => own.length > 0);
  const body = shown.flatMap(({ kind, own }) => [
    `## ${titles[kind]}`,
    "",
    ...table(own),
    "",
    ...own.flatMap((entry) => section(entry)),
  ]);
  const kindsOf = (name: string) => entries.filter((entry) => entry.name === name).map((entry) => entry.kind);
  return [...introduction, ...usesTable(kindsOf), ...body].join("\n");
}

const titles = {
  scorer: "Scorers",
  reweighter: "Reweighters",
  selector: "Selectors",
  mixer: "Mixers",
  policy: "Pre-rollout policies",
} as const satisfies Record<(typeof KINDS)[number], string>;

const introduction = [
  "# Components",
  "",
  "Written by `npx tsx scripts/gen-components-doc.ts` from the components themselves; `dataflex-mq components NAME` prints the same.",
  "",
  "What holds for all of them:",
  "",
  "- A **scorer** turns fields of a step into one score per row or token; a **reweighter** turns scores into weights, a **selector** into kept",
  "  rows or tokens, a **mixer** into shares of domains. The score is the quantity that an actuator's formula starts from: its section says which",
  "  scorer gives it (*takes*). Whatever else the formula needs it reads from the batch and declares (*fields*). A scorer of your own may",
  "  stand in wherever its score means the same.",
  "- Padding and fully masked rows count in no statistic, rank, quantile, group or normaliser, and get weight 0.",
  "- m[i,t] is `response_mask`, t runs over unmasked tokens, V is their number in a row. R is the outcome reward.",
  "- Groups are rows of one `uid`; of each (uid, session) the last row (that of the highest `session_index`, where rows have one) counts in group statistics. Deviations are unbiased unless said.",
  "- Arithmetic is float64. Where scores meet a parameter or each other, both sides are rounded to float32 first, so ties and thresholds do",
  "  not depend on how a field was encoded. Ties: the higher score, then the lower row. Counts are rounded half to even; quantiles are linear.",
  "- Reweighters give weights before normalisation. `normalize` (default: mean one over rows for row weights, over tokens for token weights)",
  "  comes afterwards; `normalize: none` gives the exact weights of a paper that does not normalise.",
  "- Not finite: refused, dropped or neutral, as `on_nonfinite` says. Nothing kept: as `on_empty` says; fewer rows than wanted: as `keep_when_short` says.",
  "- *Checked* says how a formula was verified; where it says that something was not, it was not. Fixtures are worked examples, asserted digit",
  "  by digit in `test/unit/scoring/components/`. `npm run test:parity` compares every component with its formula written anew in",
  "  PyTorch (float64, CPU), on 200 random batches each.",
  "",
];

function table(entries: readonly CatalogueEntry[]): string[] {
  return [
    "| component | what it does | source | checked | differs from the original |",
    "|---|---|---|---|---|",
    ...entries.map(({ kind, name, doc }) => {
      const { source } = doc;
      const cells = [doc.summary ?? "", source?.ref ?? "", source?.verified ?? "", source?.differs ?? "–"];
      return `| [\`${name}\`](#${kind}-${name}) | ${cells.map(plain).join(" | ")} |`;
    }),
  ];
}

function section(entry: CatalogueEntry): string[] {
  const lines = detailSections(entry)
    .filter(([, text]) => text.length > 0)
    .flatMap(([title, text]) => item(title, text));
  // Names are unique per kind only, and so are the anchors that headings make.
  return [`### ${entry.kind} ${entry.name}`, "", plain(entry.doc.summary ?? ""), "", ...lines, ""];
}

/** A single line follows its title, several go below it. */
function item(title: string, text: readonly string[]): string[] {
  const shown = text.map((line) => (title === "formula" || title === "fields" ? `\`${line}\`` : plain(line)));
  if (shown.length === 1) return [`- **${title}**: ${shown[0]}`];
  return [`- **${title}**:`, ...shown.map((line) => `  - ${line}`)];
}

/** Text with the characters escaped that Markdown would interpret. */
function plain(text: string): string {
  return text.replace(/[\\`*_<>|[\]]/g, "\\$&");
}
