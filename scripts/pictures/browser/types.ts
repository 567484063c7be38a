/** A panel with the answers to its queries: what is drawn of a dashboard. */
export interface DrawnPanel {
  readonly title: string;
  readonly type: "timeseries" | "stat" | "heatmap" | "table" | "bargauge";
  /** Of 24 columns. */
  readonly width: number;
  /** Grafana's unit id. */
  readonly unit: string;
  readonly min: number | null;
  readonly max: number | null;
  readonly thresholds: readonly Threshold[];
  /** Of single series, by name. */
  readonly colours: Readonly<Record<string, string>>;
  /** Thresholds are coloured areas behind the curves. */
  readonly areas: boolean;
  readonly stacked: boolean;
  readonly log: boolean;
  /** Seconds since the run began; panels of single values have none of it. */
  readonly times: readonly number[];
  readonly series: readonly {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly values: readonly (number | null)[];
  }[];
}
export interface Threshold {
  readonly color: string;
  /** Null: no lower bound. */
  readonly value: number | null;
}

export interface Alert {
  readonly name: string;
  readonly severity: string;
  /** Seconds since the run began. */
  readonly since: number;
  /** Pending: its expression holds, but not yet for as long as the rule requires. */
  readonly state: "firing" | "pending";
  /** What else it is about, e.g. the pipeline or the queue. */
  readonly about: string;
}

export interface Picture {
  readonly run: string;
  readonly says: string;
  /** Seconds since the run began at which the illness did. */
  readonly ill: number | null;
  readonly panels: readonly DrawnPanel[];
  readonly alerts: readonly Alert[];
}
