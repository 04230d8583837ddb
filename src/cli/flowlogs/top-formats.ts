import type { Totals } from "../../diagnostics/flow-logs/read.ts";
import type { Count } from "../../diagnostics/flow-logs/records/count.ts";
import type { Measure, Top, TopField, TopRow } from "../../diagnostics/flow-logs/top.ts";
import { type Column, createColumns } from "./columns.ts";
import type { Format } from "./formats.ts";
import { humanBytes, humanCount, plural } from "./numbers.ts";
import { protocolName } from "./protocols.ts";

export interface TopReport {
  tops: readonly Top[];
  totals: Totals;
}

/** Formats a whole report. `width` is the width of the terminal. */
export const topFormats: Record<Format, (report: TopReport, width: number) => string> = { table, json, csv };

const human = (measure: Measure, count: Count) => (measure === "bytes" ? humanBytes(count) : humanCount(count));

function table({ tops }: TopReport, width: number): string {
  return tops.map((top) => section(top, width)).join("\n");
}

function section({ field, by, total, rows, dropped, missing }: Top, width: number): string {
  const measured = by === "flows" ? "" : `${human(by, total[by])}${by === "packets" ? " packets" : ""} in `;
  const title = `Top ${field} by ${by} (${measured}${plural(total.flows, "flow")})`;
  const columns: Column[] = [
    { heading: field.toUpperCase(), align: "left" },
    { heading: "BYTES", align: "right" },
    { heading: "PACKETS", align: "right" },
    { heading: "FLOWS", align: "right" },
    { heading: "SHARE", align: "right" },
  ];
  const { widen, headings, line } = createColumns(columns);
  const cells = rows.map((row) => [
    label(field, row.value),
    humanBytes(row.bytes),
    humanCount(row.packets),
    humanCount(row.flows),
    `${(row.share * 100).toFixed(1)}%`,
  ]);
  for (const row of cells) widen(row);
  const room = width - headings().length - 2;
  const largest = rows[0]?.share ?? 0;
  const lines = rows.map(({ share }, at) => `${line(cells[at] ?? [])}  ${bar(share / largest, room)}`.trimEnd());
  if (dropped > 0 && rows.length === 0) return `${title}\n${unranked(field, by, missing)}\n`;
  const note =
    dropped === 0
      ? []
      : [
          `${plural(dropped, "small value")} dropped to save memory: a row may lack up to ${human(by, missing)}, and values with less than that are not shown.`,
        ];
  return `${[title, headings(), ...lines, ...note].join("\n")}\n`;
}

/** The message for a table without rows, because any order would be random. */
const unranked = (field: TopField, by: Measure, missing: Count) =>
  `No ranking: there are too many different values of ${field}, and each may lack up to ${human(by, missing)}, more than the largest has. ` +
  "Read less at once, for example with --since, --nic, --cidr or --port.";

const label = (field: TopField, value: TopRow["value"]) =>
  field === "protocol" ? protocolName(Number(value)) : String(value);

const EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/** A bar of up to `room` characters, in steps of an eighth. Any value above zero is visible. */
function bar(part: number, room: number): string {
  if (room < 1 || !(part > 0)) return "";
  const eighths = Math.max(1, Math.round(part * room * 8));
  return "█".repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8];
}

/** One JSON document. Counts keep all digits. */
function json({ tops, totals }: TopReport): string {
  const sums = ({ bytes, packets, flows }: Top["total"]) => `"bytes":${bytes},"packets":${packets},"flows":${flows}`;
  const row = (each: TopRow) => `{"value":${JSON.stringify(each.value)},${sums(each)},"share":${each.share}}`;
  const top = ({ field, by, total, rows, dropped, missing }: Top) =>
    `{"field":"${field}","by":"${by}","total":{${sums(total)}},"rows":[${rows.map(row).join(",")}],` +
    `"dropped":${dropped},"missing":${missing},"ranked":${dropped === 0 || rows.length > 0}}`;
  return `{"top":[${tops.map(top).join(",")}],"read":${JSON.stringify(totals)}}\n`;
}

function csv({ tops }: TopReport): string {
  const rows = tops.flatMap(({ field, rows }) =>
    rows.map(({ value, bytes, packets, flows, share }) => [field, value, bytes, packets, flows, share].join(",")),
  );
  return [`field,value,bytes,packets,flows,share`, ...rows, ""].join("\r\n");
}
