import { Counter, Gauge, Histogram, type Registry } from "prom-client";

export interface Described {
  name: string;
  type: "counter" | "gauge" | "histogram";
  help: string;
  labels: readonly string[];
}

/** Defines the metrics of a registry. A scrape shows them in the order of their definitions. */
export interface Definitions {
  described: Described[];
  counter<L extends string>(name: string, help: string, labels: L[]): Counter<L>;
  gauge<L extends string>(name: string, help: string, labels: L[]): Gauge<L>;
  histogram<L extends string>(name: string, help: string, labels: L[], buckets?: number[]): Histogram<L>;
}

/** Default buckets. */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

export function createDefinitions(registry: Registry): Definitions {
  const registers = [registry];
  const described: Described[] = [];
  return {
    described,
    counter(name, help, labelNames) {
      described.push({ name, type: "counter", help, labels: labelNames });
      return new Counter({ name, help, labelNames, registers });
    },
    gauge(name, help, labelNames) {
      described.push({ name, type: "gauge", help, labels: labelNames });
      return new Gauge({ name, help, labelNames, registers });
    },
    histogram(name, help, labelNames, buckets = SECONDS) {
      described.push({ name, type: "histogram", help, labels: labelNames });
      return new Histogram({ name, help, labelNames, buckets, registers });
    },
  };
}

/**
 * Sets the values of a group of gauges at each scrape. prom-client collects each metric separately, so `first` must be the
 * first of the group that is defined.
 */
export function setAtScrape(first: Gauge, collect: () => void): void {
  Object.assign(first, { collect });
}
