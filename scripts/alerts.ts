import { stringify } from "yaml";
import { REASON_KINDS } from "../src/observe/verdict/reason-kinds.js";
import { type ReasonKind, type SickLevel, VERDICT_LEVELS } from "../src/observe/verdict/verdict-types.js";

const SEVERITY = { warn: "warning", bad: "critical" } as const;
const METRIC = "dataflex_run_verdict_level";
const HEAD = "Generated from src/observe/verdict by scripts/gen-verdict.ts.";

interface Alert {
  readonly name: string;
  readonly level: number;
  readonly severity: string;
  readonly kind: ReasonKind;
}
const ALERTS: readonly Alert[] = REASON_KINDS.flatMap((kind) =>
  Object.entries(kind.alerts).map(([level, name]) => ({
    name: `Dataflex${name}`,
    level: VERDICT_LEVELS.indexOf(level as SickLevel),
    severity: SEVERITY[level as SickLevel],
    kind,
  })),
);

const actionOf = ({ fix }: ReasonKind, run: string): string => {
  const [command, hint] = fix.split("   ");
  if (command?.startsWith("dataflex-mq ")) return `${command.replace("RUN", run)}${hint ? `   ${hint}` : ""}`;
  return `dataflex-mq status ${run}   has the numbers; then ${fix}`;
};
const annotations = (kind: ReasonKind, run: string) => ({
  summary: `${run}: ${kind.title}`,
  action: actionOf(kind, run),
  runbook: `docs/operations.md#${kind.runbook}`,
});

/** One alert for each level of each reason that a verdict can have. */
export function alertRules(): string {
  const rules = ALERTS.map(({ name, level, severity, kind }) => ({
    alert: name,
    expr: `max by (run) (${METRIC}{code="${kind.code}"}) == ${level}`,
    ...(kind.patience && { for: kind.patience }),
    labels: { severity },
    annotations: annotations(kind, "{{ $labels.run }}"),
  }));
  return page("Alerts on runs: what the live page and `dataflex-mq status` say.", {
    groups: [{ name: "dataflex-runs", rules }],
  });
}

/** Each fires at its level, and not at another, nor for another reason. */
export function alertTests(): string {
  const series = (code: string, values: string) => ({ series: `${METRIC}{run="r",code="${code}"}`, values });
  const tests = ALERTS.flatMap(({ name, level, severity, kind }) => {
    const exp = [{ exp_labels: { severity, run: "r" }, exp_annotations: annotations(kind, "r") }];
    const rule = (exp_alerts: unknown[]) => [{ eval_time: "5m", alertname: name, exp_alerts }];
    const others = ALERTS.filter((other) => other.kind !== kind).map((other) => series(other.kind.code, "2x20"));
    const quiet = [
      series(kind.code, `${level === 1 ? 2 : 1}x20`),
      ...new Map(others.map((s) => [s.series, s])).values(),
    ];
    return [
      {
        interval: "30s",
        name: "fires",
        input_series: [series(kind.code, `0x2 ${level}x18`)],
        alert_rule_test: rule(exp),
      },
      { interval: "30s", name: "quiet", input_series: quiet, alert_rule_test: rule([]) },
    ];
  });
  return page("Run with: promtool test rules config/prometheus/tests/verdict.yml", {
    rule_files: ["../rules/verdict.yml"],
    evaluation_interval: "30s",
    tests,
  });
}

const page = (about: string, content: unknown): string =>
  `# ${HEAD}\n# ${about}\n${stringify(content, { lineWidth: 0 })}`;
