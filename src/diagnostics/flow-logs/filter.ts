import type { Networks } from "./networks.ts";
import type { Action, FlowRecord } from "./records/record.ts";
import type { Period } from "./selection.ts";

export interface Criteria extends Period {
  /** Interface ids; undefined: all. */
  interfaces?: ReadonlySet<string> | undefined;
  action?: Action | undefined;
  /** Source or destination ports. Empty: all. */
  ports: ReadonlySet<number>;
  /** Source, destination, and either of them; undefined: all. */
  source?: Networks | undefined;
  destination?: Networks | undefined;
  either?: Networks | undefined;
}

export interface Filter {
  /** Whether a record is from the requested interfaces and period. */
  concerns(record: FlowRecord): boolean;
  /** Whether such a record also meets all other criteria. */
  matches(record: FlowRecord): boolean;
}

export function createFilter(criteria: Criteria): Filter {
  const { since, until, interfaces, action, ports, source, destination, either } = criteria;
  const from = since === undefined ? Number.NEGATIVE_INFINITY : since / 1000;
  const to = until === undefined ? Number.POSITIVE_INFINITY : until / 1000;
  return {
    concerns: (record) =>
      record.end >= from && record.start <= to && (interfaces === undefined || interfaces.has(record.interface)),
    matches: (record) =>
      (action === undefined || record.action === action) &&
      (ports.size === 0 || ports.has(record.dstport) || ports.has(record.srcport)) &&
      (source === undefined || source(record.srcaddr)) &&
      (destination === undefined || destination(record.dstaddr)) &&
      (either === undefined || either(record.srcaddr) || either(record.dstaddr)),
  };
}
