import { createRecordReader } from "../../../src/diagnostics/flow-logs/records/reader.ts";
import type { FlowRecord } from "../../../src/diagnostics/flow-logs/records/record.ts";

/** An ordinary record, with the given fields. */
export function flow(fields: Partial<FlowRecord> = {}): FlowRecord {
  return {
    account: "12345678",
    interface: "7ffd6527-ce80-4e57-a949-f9a45824ebe2",
    srcaddr: "172.17.1.100",
    dstaddr: "172.17.1.101",
    srcport: 59113,
    dstport: 20756,
    protocol: 6,
    packets: 17,
    bytes: 1325,
    start: 1587983051,
    end: 1587983052,
    action: "ACCEPT",
    status: "OK",
    ...fields,
  };
}

/** The line that the platform writes for a record. */
export function lineOf(fields: Partial<FlowRecord> = {}, separator = " "): string {
  const r = flow(fields);
  const parts = ["2", r.account, r.interface, r.srcaddr, r.dstaddr, r.srcport, r.dstport, r.protocol];
  return [...parts, r.packets, r.bytes, r.start, r.end, r.action, r.status].join(separator);
}

/** Everything that is parsed from a text of flow logs, in order. */
export function readAll(chunks: readonly Buffer[]) {
  const records: FlowRecord[] = [];
  const bad: string[] = [];
  const reader = createRecordReader({
    record: (record) => records.push({ ...record }),
    bad: (line, reason) => bad.push(`${line}: ${reason}`),
  });
  for (const chunk of chunks) reader.push(chunk);
  reader.end();
  return { records, bad };
}
