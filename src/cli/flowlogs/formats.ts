import type { FlowRecord } from "../../diagnostics/flow-logs/records/record.ts";
import { localTime } from "../../diagnostics/time.ts";
import { type Column, createColumns } from "./columns.ts";
import { humanBytes } from "./numbers.ts";
import { protocolName } from "./protocols.ts";

export const formats = ["table", "json", "csv"] as const;
export type Format = (typeof formats)[number];

/** Formats records as text. Every text is empty or ends with a line break. */
export interface RecordFormat {
  record(record: FlowRecord): string;
  /** The text that is buffered so far. More records may follow. */
  end(): string;
}

export const recordFormats: Record<Format, () => RecordFormat> = { table, json, csv };

/** One JSON object per line. Counts beyond 2^53 keep all digits. */
function json(): RecordFormat {
  return {
    // Record texts need no escaping. JSON.stringify would be slower and cannot write a bigint.
    record: (r) =>
      `{"account":"${r.account}","interface":"${r.interface}","srcaddr":"${r.srcaddr}","dstaddr":"${r.dstaddr}",` +
      `"srcport":${r.srcport},"dstport":${r.dstport},"protocol":${r.protocol},"packets":${r.packets},` +
      `"bytes":${r.bytes},"start":${r.start},"end":${r.end},"action":"${r.action}","status":"${r.status}"}\n`,
    end: () => "",
  };
}

const CSV_HEADER =
  "account,interface,srcaddr,dstaddr,srcport,dstport,protocol,packets,bytes,start,end,action,status\r\n";

/** RFC 4180. Record texts need no quotes. */
function csv(): RecordFormat {
  let header = CSV_HEADER;
  return {
    record(r) {
      const line =
        `${header}${r.account},${r.interface},${r.srcaddr},${r.dstaddr},${r.srcport},${r.dstport},${r.protocol},` +
        `${r.packets},${r.bytes},${r.start},${r.end},${r.action},${r.status}\r\n`;
      header = "";
      return line;
    },
    end() {
      const text = header;
      header = "";
      return text;
    },
  };
}

const columns: Column[] = [
  { heading: "START", align: "left" },
  { heading: "SECONDS", align: "right" },
  { heading: "ACTION", align: "left" },
  { heading: "PROTOCOL", align: "left" },
  { heading: "SOURCE", align: "left", room: "255.255.255.255:65535".length },
  { heading: "DESTINATION", align: "left", room: "255.255.255.255:65535".length },
  { heading: "PACKETS", align: "right" },
  { heading: "BYTES", align: "right", room: "1023.9 KiB".length },
  { heading: "STATUS", align: "left" },
  { heading: "INTERFACE", align: "left" },
];

/** Rows that set the initial column widths. Later rows widen them if necessary. */
const ROWS_AHEAD = 500;

function table(): RecordFormat {
  const { widen, headings, line } = createColumns(columns);
  const ahead: string[][] = [];
  let begun = false;
  const release = () => {
    begun = true;
    return [headings(), ...ahead.splice(0).map(line), ""].join("\n");
  };
  return {
    record(record) {
      const row = cells(record);
      widen(row);
      if (begun) return `${line(row)}\n`;
      ahead.push(row);
      return ahead.length < ROWS_AHEAD ? "" : release();
    },
    end: () => (begun || ahead.length === 0 ? "" : release()),
  };
}

function cells(record: FlowRecord): string[] {
  return [
    timeOf(record.start),
    String(record.end - record.start),
    record.action,
    protocolName(record.protocol),
    socket(record.srcaddr, record.srcport),
    socket(record.dstaddr, record.dstport),
    String(record.packets),
    humanBytes(record.bytes),
    record.status,
    record.interface,
  ];
}

const TIMES = 1024;
const times: { seconds: number; text: string }[] = [];

/** A cache for `localTime`, which is slow. The records of ten minutes have only a few hundred different seconds. */
function timeOf(seconds: number): string {
  const kept = times[seconds % TIMES];
  if (kept?.seconds === seconds) return kept.text;
  const text = localTime(seconds);
  times[seconds % TIMES] = { seconds, text };
  return text;
}

const socket = (address: string, port: number) =>
  address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
