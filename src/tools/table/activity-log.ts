import { z } from "zod";
import { events } from "../shape/events.ts";
import { BadArguments, day, list, type Row, reading } from "./row.ts";

const DAY_MS = 86_400_000;
const dateOf = (at: number) => new Date(at).toISOString().slice(0, 10);

export const activityLog: readonly Row[] = [
  reading({
    name: "list_activitylog_contracts",
    group: "activitylog",
    api: "activitylog",
    path: "/contracts",
    description: "Contracts whose activity log the token may read. Start here; then list_activitylog_events.",
    result: list,
  }),
  reading({
    name: "list_activitylog_events",
    group: "activitylog",
    api: "activitylog",
    path: "/contracts/{contract}",
    description:
      "Who changed what on the platform, and when; the platform keeps 35 days. For one object of the cluster use list_object_activity.",
    result: z.looseObject({ events: z.array(z.looseObject({})), total: z.number() }),
    narrow: "set a shorter time, a smaller limit, user or event_types",
    args: {
      date_start: day("First day; default: 7 days ago.").optional(),
      date_end: day("Last day; default: today. At most 90 days after date_start.").optional(),
      offset: z.int().min(0).max(1_000_000).default(0).describe("Entries to skip."),
      limit: z.int().min(1).max(1000).default(25).describe("Entries to read."),
      user: z.string().max(256).optional().describe("Only entries of users whose name contains it."),
      event_types: z
        .array(z.string().max(64))
        .max(50)
        .optional()
        .describe("Only these types, for example Provision, Error."),
      include_status_updates: z.boolean().default(false).describe("Show RequestStatusUpdate entries too."),
    },
    query({ date_start, date_end, offset, limit }, now) {
      const [start, end] = [date_start ?? dateOf(now - 7 * DAY_MS), date_end ?? dateOf(now)];
      const days = (Date.parse(end) - Date.parse(start)) / DAY_MS;
      if (days < 0) throw new BadArguments("date_start is after date_end");
      if (days > 90) throw new BadArguments("date_start and date_end are more than 90 days apart");
      return { startDate: start, endDate: end, offset: String(offset), limit: String(limit) };
    },
    shape: events,
  }),
];
