interface Query {
  readonly expr: string;
  /** Grafana's legend template. */
  readonly legend: string;
}

export interface Panel {
  readonly title: string;
  /** What one sees here, and what a bad picture looks like. */
  readonly description: string;
  /** Completes "No data means …". */
  readonly noData: string;
  readonly kind: "timeseries" | "stat" | "heatmap" | "table" | "bars";
  /** Grafana's unit id: percentunit, s, bytes, Bps, ops, short, none, dateTimeFromNow. */
  readonly unit: string;
  readonly queries: readonly Query[];
  /** Ascending; each colour holds from its value on. */
  readonly bands?: readonly (readonly [from: number, colour: "red" | "orange" | "green"])[];
  /** Colours of single series, by legend. */
  readonly colours?: Readonly<Record<string, "red" | "orange" | "green">>;
  readonly stacked?: boolean;
  readonly log?: boolean;
  readonly min?: number;
  readonly max?: number;
  /** Of 24 columns. Default 12. */
  readonly width?: number;
}

interface Variable {
  readonly name: string;
  /** `label_values(…)`. */
  readonly query: string;
}

export interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  readonly variables: readonly Variable[];
  readonly panels: readonly Panel[];
}
