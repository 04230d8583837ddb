import type { Sources } from "../sources.ts";
import { momentOf } from "../time.ts";
import { openBucket } from "./bucket.ts";
import { createFilter } from "./filter.ts";
import type { StoredObject } from "./listing.ts";
import { readFlowLogs } from "./read.ts";
import { canMatter, isFlowLog, type Period } from "./selection.ts";
import { createTally, type Measure, type TopField } from "./top.ts";

export interface SummaryAsked {
  bucket: string;
  prefix: string;
  since: string;
  until?: string | undefined;
  action?: "ACCEPT" | "REJECT" | undefined;
  nic_id?: string | undefined;
  fields: TopField[];
  by: Measure;
  rows: number;
}

/** The traffic between addresses, by the flow logs of a bucket. */
export async function flowLogSummary({ platform: open, signal, progress }: Sources, asked: SummaryAsked) {
  const platform = await open();
  const now = platform.now();
  const moment = (name: string, text: string) => {
    const at = momentOf(text, now);
    if (at === undefined) throw new Error(`${name}: "${text}" is not a time; write 15m, 1h, 7d or 2026-03-01T10:00Z`);
    return at;
  };
  const period = {
    since: moment("since", asked.since),
    until: asked.until === undefined ? undefined : moment("until", asked.until),
  };
  const keys = await platform.storageKeys(signal);
  const endpoint = platform.endpoint("objectStorage");
  await using bucket = openBucket({ endpoint, bucket: asked.bucket, keys, region: platform.storageRegion });
  const tallies = asked.fields.map((field) => createTally(field, asked.by));
  const problems: string[] = [];
  const totals = await readFlowLogs({
    objects: selected(bucket.list(asked.prefix, signal), period),
    open: bucket.open,
    filter: createFilter({
      ...period,
      action: asked.action,
      ports: new Set(),
      interfaces: asked.nic_id === undefined ? undefined : new Set([asked.nic_id]),
    }),
    signal,
    badLine: (key, line, reason) => problems.push(`${key}:${line}: ${reason}`),
    badObject: (key, error) => problems.push(`${key}: ${error.message}`),
    record(record) {
      for (const tally of tallies) tally.add(record);
    },
    async between(sofar) {
      progress(sofar.objects, "objects read");
      return true;
    },
  });
  return {
    since: new Date(period.since).toISOString(),
    totals,
    tops: tallies.map((tally) => {
      const { field, by, total, rows, dropped, missing } = tally.top(asked.rows);
      const note = `there are too many different values: each may lack up to ${missing}, and values with less are not shown; ask for a shorter period`;
      return { field, by, total: plain(total), rows: rows.map(plain), ...(dropped > 0 && { note }) };
    }),
    ...(problems.length > 0 && { problems: problems.slice(0, 10) }),
  };
}

/** Sums may exceed JSON's number range. */
const plain = (sums: object) =>
  Object.fromEntries(
    Object.entries(sums).map(([name, value]) => [name, typeof value === "bigint" ? Number(value) : value]),
  );

async function* selected(objects: AsyncIterable<StoredObject>, period: Period): AsyncGenerator<StoredObject> {
  for await (const object of objects) if (isFlowLog(object) && canMatter(object, period)) yield object;
}
