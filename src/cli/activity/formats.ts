import { visible } from "../../diagnostics/flow-logs/records/visible.ts";
import { localTime } from "../../diagnostics/time.ts";
import type { Entry } from "../../platform/activity/entry.ts";
import { createColumns } from "../flowlogs/columns.ts";
import { escaped } from "../frame/text.ts";
import type { ObjectName } from "./object-names.ts";

export const formats = ["table", "json", "ndjson"] as const;
export type Format = (typeof formats)[number];

export interface Row {
  entry: Entry;
  objects: ObjectName[];
}

/** Formats entries as text. */
export interface EntryFormat {
  rows(rows: readonly Row[]): string;
  /** The text after the last row. */
  end(): string;
}

export const entryFormats: Record<Format, () => EntryFormat> = { table, json, ndjson };

const LONGEST = 200;

function table(): EntryFormat {
  const headings = ["TIME", "USER", "EVENT", "STATUS", "ACTION", "RESOURCE", "OBJECT"];
  const columns = createColumns(headings.map((heading) => ({ heading, align: "left" as const })));
  let begun = false;
  return {
    rows(rows) {
      const lines = rows.map(({ entry, objects }) => ({ cells: cells(entry, objects), entry }));
      for (const line of lines) columns.widen(line.cells);
      const heading = begun || rows.length === 0 ? [] : [columns.headings()];
      begun ||= rows.length > 0;
      const text = lines.flatMap((line) => [columns.line(line.cells), ...reasonOf(line.entry)]);
      return [...heading, ...text].map((line) => `${line}\n`).join("");
    },
    end: () => "",
  };
}

const shown = (text: string) => visible(text, LONGEST) || "-";

const cells = ({ time, user, event, status, action, resource }: Entry, objects: readonly ObjectName[]) => [
  localTime(Math.floor(time / 1000)),
  ...[user, event, status, action, resource].map(shown),
  shown(objects.map(({ kind, namespace, name }) => `${kind}/${namespace}/${name}`).join(",")),
];

/** The reason of a failure, on a line of its own. */
const reasonOf = ({ status, message }: Entry) =>
  status === "FAILED" && message !== "" ? [`  ${visible(message, LONGEST)}`] : [];

function document({ entry, objects }: Row): string {
  const { time, resources: _, source, ...fields } = entry;
  return escaped(JSON.stringify({ time: new Date(time).toISOString(), ...fields, objects, source }));
}

function ndjson(): EntryFormat {
  return { rows: (rows) => rows.map((row) => `${document(row)}\n`).join(""), end: () => "" };
}

function json(): EntryFormat {
  let separator = "[\n";
  return {
    rows: (rows) =>
      rows
        .map((row) => {
          const text = separator + document(row);
          separator = ",\n";
          return text;
        })
        .join(""),
    end: () => (separator === "[\n" ? "[]\n" : "\n]\n"),
  };
}
