import { parseArgs } from "node:util";
import { momentOf } from "../../diagnostics/time.ts";
import { UsageError } from "../flowlogs/flags.ts";
import { type AccessAsked, accessAskedIn, accessFlags, accessUsage } from "../platform-access.ts";
import type { Criteria } from "./filter.ts";
import { type Format, formats } from "./formats.ts";

export const usage = `usage: mooring activity [OPTION…]

Prints the platform's activity log: who changed what in the contract, and who logged in, oldest first.

  --since WHEN            only entries from then on: 90s, 15m, 1h, 7d back from now, or 2026-03-01T10:00 (with or without
                          a zone), or a date (default 1d); the platform keeps 35 days
  --until WHEN            only entries before then
  --user NAME             only entries of this user; repeatable, as are --resource and --action
  --resource WHAT         only entries about this type (server), id or TYPE/ID, or with --account about this object:
                          KIND/NAME or KIND/NAMESPACE/NAME
  --action ACTION         only this action (vr.server.create, server.create or create) or event (GenerateToken)
  --reads                 also print reads: who looked at what
  -f, --follow            wait for further entries until interrupted
  -o, --output FORMAT     ${formats.join(", ")} (default table)

${accessUsage}
                          With --account, entries name the objects of the cluster that they concern.
  -h, --help              show this help

The token's user needs the privilege ACCESS_ACTIVITY_LOG. Messages go to stderr.
Exit code 1: nothing matches --user, --resource or --action.`;

export const options = {
  ...accessFlags,
  since: { type: "string", default: "1d" },
  until: { type: "string" },
  user: { type: "string", multiple: true },
  resource: { type: "string", multiple: true },
  action: { type: "string", multiple: true },
  reads: { type: "boolean", default: false },
  follow: { type: "boolean", short: "f", default: false },
  output: { type: "string", short: "o", default: "table" },
  help: { type: "boolean", short: "h", default: false },
} as const;

export interface Flags {
  help: boolean;
  access: AccessAsked;
  /** The time range, relative to the platform's time. */
  since(now: number): number;
  until(now: number): number | undefined;
  criteria: Criteria;
  follow: boolean;
  format: Format;
}

export function parseFlags(argv: string[], now: number): Flags {
  const { values, positionals } = parseArgs({ args: argv, options, allowPositionals: true });
  const [argument] = positionals;
  if (argument !== undefined) {
    throw new UsageError(`unexpected argument ${argument}: write --resource ${argument}`);
  }
  const { help, user = [], resource = [], action = [], reads, follow, until } = values;
  const moment = (flag: string, text: string, from: number) => {
    const at = momentOf(text, from);
    if (at === undefined) throw new UsageError(`--${flag} ${text}: give it as 15m, 1h, 7d or 2026-03-01T10:00`);
    return at;
  };
  const since = (from: number) => moment("since", values.since, from);
  const end = (from: number) => (until === undefined ? undefined : moment("until", until, from));
  if (since(now) > (end(now) ?? Number.POSITIVE_INFINITY)) throw new UsageError("--since is after --until");
  const format = formats.find((each) => each === values.output);
  if (format === undefined) {
    throw new UsageError(`--output ${values.output}: unknown; valid: ${formats.join(", ")}`);
  }
  if (follow && until !== undefined) throw new UsageError("--follow has no end: leave out --until");
  if (follow && format === "json") throw new UsageError("-o json is one document: with --follow, use -o ndjson");
  const criteria = { users: user, resources: resource, actions: action, reads };
  return { help, access: accessAskedIn(values), since, until: end, criteria, follow, format };
}
