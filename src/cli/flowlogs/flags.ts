import { parseArgs } from "node:util";
import type { Criteria } from "../../diagnostics/flow-logs/filter.ts";
import { type Networks, networksOf } from "../../diagnostics/flow-logs/networks.ts";
import type { Action } from "../../diagnostics/flow-logs/records/record.ts";
import { type Measure, measures, type TopField, topFields } from "../../diagnostics/flow-logs/top.ts";
import { momentOf } from "../../diagnostics/time.ts";
import { type AccessAsked, accessAskedIn, accessFlags, accessUsage } from "../platform-access.ts";
import { type Format, formats } from "./formats.ts";

export const usage = `usage: mooring flowlogs --bucket NAME [OPTION…]

Reads flow logs from a bucket.

  --bucket NAME           bucket, or BUCKET/PREFIX as in spec.bucket of a FlowLog
  --prefix TEXT           only objects whose keys start with this prefix
  --since WHEN            only records from then on: 90s, 15m, 1h, 7d back from now, or 2026-03-01T10:00 (with or without
                          a zone), or a date
  --until WHEN            only records before then; objects outside of --since and --until are not fetched
  --server NAME           only NICs of servers with this name; repeatable, as are --nic and --port
  --nic ID                only this NIC
  --action ACTION         ACCEPT or REJECT
  --port N                only records with this source or destination port
  --source CIDR           only records from this address or network, such as 10.7.0.0/16; repeatable
  --destination CIDR      only records to this address or network; repeatable
  --cidr CIDR             only records from or to this address or network; repeatable
  --limit N               print at most this many records
  -f, --follow            wait for further objects until interrupted; the platform writes one every ten minutes

  --top FIELD             sum up instead of printing records: ${topFields.join(", ")};
                          repeatable
  --by MEASURE            ${measures.join(", ")} (default bytes)
  --rows N                rows of each --top table (default 10)
  -o, --output FORMAT     ${formats.join(", ")} (default table)

${accessUsage}
  --create-key            create an object storage key if the token's user has none
                          MOORING_S3_ACCESS_KEY and MOORING_S3_SECRET_KEY are used instead if they are set;
                          MOORING_S3_REGION is the region to sign for (default: the region in the endpoint).
  -h, --help              show this help

Errors and a summary go to stderr. Exit code 1: some objects or lines could not be read.`;

export const options = {
  ...accessFlags,
  bucket: { type: "string" },
  prefix: { type: "string", default: "" },
  since: { type: "string" },
  until: { type: "string" },
  server: { type: "string", multiple: true },
  nic: { type: "string", multiple: true },
  action: { type: "string" },
  port: { type: "string", multiple: true },
  source: { type: "string", multiple: true },
  destination: { type: "string", multiple: true },
  cidr: { type: "string", multiple: true },
  limit: { type: "string" },
  follow: { type: "boolean", short: "f", default: false },
  top: { type: "string", multiple: true },
  by: { type: "string", default: "bytes" },
  rows: { type: "string", default: "10" },
  output: { type: "string", short: "o", default: "table" },
  "create-key": { type: "boolean", default: false },
  help: { type: "boolean", short: "h", default: false },
} as const;

/** A flag or value that the user can correct. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export interface Flags {
  help: boolean;
  access: AccessAsked;
  createKey: boolean;
  bucket: string;
  prefix: string;
  servers: string[];
  nics: string[];
  criteria: Omit<Criteria, "interfaces">;
  limit: number;
  follow: boolean;
  tops: TopField[];
  by: Measure;
  rows: number;
  format: Format;
}

export function parseFlags(argv: string[], now: number): Flags {
  const { values, positionals } = parseArgs({ args: argv, options, allowPositionals: true });
  const [argument] = positionals;
  if (argument !== undefined) {
    const bucket = /^flow(log(s)?)?\//i.test(argument) ? "with the bucket in its spec.bucket" : argument;
    throw new UsageError(`unexpected argument ${argument}: write --bucket ${bucket}`);
  }
  const { help, server = [], nic = [], port = [], top = [] } = values;
  const [bucket = "", ...folders] = (values.bucket ?? "").split("/");
  if (bucket === "" && !help) throw new UsageError("--bucket is missing");
  if (top.length > 0 && values.limit !== undefined) {
    throw new UsageError("--limit counts printed records: with --top, use --rows");
  }
  if (values.follow && top.length > 0) throw new UsageError("--follow has no end: leave out --top");
  if (values.follow && values.until !== undefined) throw new UsageError("--follow has no end: leave out --until");
  const moment = (flag: string, text: string) => {
    const at = momentOf(text, now);
    if (at === undefined) throw new UsageError(`--${flag} ${text}: give it as 15m, 1h, 7d or 2026-03-01T10:00`);
    return at;
  };
  const since = values.since === undefined ? undefined : moment("since", values.since);
  const until = values.until === undefined ? undefined : moment("until", values.until);
  if (since !== undefined && until !== undefined && since > until) throw new UsageError("--since is after --until");
  return {
    help,
    access: accessAskedIn(values),
    createKey: values["create-key"],
    bucket,
    prefix: folders.join("/") + values.prefix,
    servers: server,
    nics: nic,
    criteria: {
      since,
      until,
      action: values.action === undefined ? undefined : oneOf("action", values.action.toUpperCase(), actions),
      ports: new Set(port.map((text) => whole("port", text, 65_535))),
      source: networks("source", values.source),
      destination: networks("destination", values.destination),
      either: networks("cidr", values.cidr),
    },
    limit: values.limit === undefined ? Number.POSITIVE_INFINITY : whole("limit", values.limit),
    follow: values.follow,
    tops: [...new Set(top.map((field) => oneOf("top", field, topFields)))],
    by: oneOf("by", values.by, measures),
    rows: whole("rows", values.rows),
    format: oneOf("output", values.output, formats),
  };
}

function networks(flag: string, texts: string[] | undefined): Networks | undefined {
  if (texts === undefined) return undefined;
  const found = networksOf(texts);
  if (found) return found;
  const wrong = texts.find((text) => networksOf([text]) === undefined);
  throw new UsageError(`--${flag} ${wrong}: give an address or a network, such as 10.7.0.0/16`);
}

const actions: readonly Action[] = ["ACCEPT", "REJECT"];

function oneOf<Value extends string>(flag: string, text: string, known: readonly Value[]): Value {
  const found = known.find((value) => value === text);
  if (found === undefined) throw new UsageError(`--${flag} ${text}: unknown; valid: ${known.join(", ")}`);
  return found;
}

function whole(flag: string, text: string, most = Number.MAX_SAFE_INTEGER): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > most) {
    const limit = most === Number.MAX_SAFE_INTEGER ? "" : ` up to ${most}`;
    throw new UsageError(`--${flag} ${text}: give a whole number${limit}`);
  }
  return value;
}
