import { z } from "zod";
import type { Sources } from "../../diagnostics/sources.ts";
import type { Entry } from "../../platform/activity/entry.ts";
import { eventOf, isEventWanted } from "../shape/events.ts";
import { BadArguments, contractNumber, day, list, type Row, reading } from "./row.ts";

const DAY_MS = 86_400_000;
const dateOf = (at: number) => new Date(at).toISOString().slice(0, 10);

const args = z.strictObject({
  contract: contractNumber,
  date_start: day("First day; default: 7 days ago.").optional(),
  date_end: day("Last day; default: today. At most 90 days after date_start.").optional(),
  offset: z.int().min(0).max(1_000_000).default(0).describe("Matching entries to skip, from next_offset."),
  limit: z.int().min(1).max(1000).default(25).describe("Matching entries to show."),
  user: z.string().max(256).optional().describe("Only entries of users whose name contains it."),
  event_types: z
    .array(z.string().max(64))
    .max(50)
    .optional()
    .describe("Only these types, for example Provision, Error."),
  include_status_updates: z.boolean().default(false).describe("Show RequestStatusUpdate entries too."),
  include_reads: z.boolean().default(false).describe("Also show read accesses."),
});

export const activityLog: readonly Row[] = [
  reading({
    name: "list_activitylog_contracts",
    group: "activitylog",
    api: "activitylog",
    path: "/contracts",
    description: "Contracts whose activity log the token may read. Start here; then list_activitylog_events.",
    result: list,
  }),
  {
    name: "list_activitylog_events",
    group: "activitylog",
    description:
      "Who changed what on the platform, and when, the newest first; the platform keeps 35 days. The whole period is searched; an incomplete answer says truncated. For one object of the cluster use list_object_activity.",
    result: z.looseObject({ events: z.array(z.looseObject({})), total: z.number(), truncated: z.boolean() }),
    narrow: "set a shorter time, a smaller limit, user or event_types",
    args,
    work: { ask: async (sources, given) => eventsAsked(sources, args.parse(given)) },
  },
];

type Args = z.output<typeof args>;

function daysOf({ date_start, date_end }: Args, now: number) {
  const [start, end] = [date_start ?? dateOf(now - 7 * DAY_MS), date_end ?? dateOf(now)];
  const days = (Date.parse(end) - Date.parse(start)) / DAY_MS;
  if (days < 0) throw new BadArguments("date_start is after date_end");
  if (days > 90) throw new BadArguments("date_start and date_end are more than 90 days apart");
  // The platform's clock may be ahead: by it, the newest entries may be of tomorrow.
  return { from: Date.parse(start), to: Date.parse(end) + (date_end === undefined ? 2 : 1) * DAY_MS };
}

async function eventsAsked(sources: Sources, asked: Args) {
  const { newestEntries } = await import("../../diagnostics/activity.ts");
  const platform = await sources.platform();
  const { contract, offset, limit } = asked;
  const search = {
    contract,
    period: daysOf(asked, platform.now()),
    // One more entry shows whether there are more.
    most: offset + limit + 1,
    isWanted: (entry: Entry) => isEventWanted(entry, asked),
  };
  const { entries, read, total, reachedTo } = await newestEntries(platform, search, sources);
  const events = entries.slice(offset, offset + limit).map(({ source }) => eventOf(source));
  const hasMore = entries.length > offset + limit;
  const isCut = !hasMore && reachedTo !== undefined;
  return {
    events,
    total: total ?? read,
    read,
    truncated: hasMore || isCut,
    ...(hasMore && { next_offset: offset + limit }),
    ...(isCut && {
      note: `the newest ${read} entries were searched; for older ones set date_end to ${dateOf(reachedTo)}`,
    }),
    ...(entries.length === 0 && !isCut && { note: `none of the ${read} entries of this period matches` }),
  };
}
