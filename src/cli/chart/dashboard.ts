export interface Panel {
  title: string;
  /** A unit of Grafana: short, s, reqps, percentunit, bytes … */
  unit: string;
  /** PromQL by legend. */
  queries: Record<string, string>;
  type?: "timeseries" | "stat" | "table";
}

export interface Dashboard {
  uid: string;
  title: string;
  panels: Panel[];
}
