import type { ReadOptions } from "../products/paging.ts";
import type { Deletion } from "../products/requests.ts";
import { type Entry, entryOf } from "./entry.ts";
import { type ActivitySource, activityContract, activityPage, activityPageSize, type Getter } from "./log.ts";
import { RETENTION_MS } from "./read.ts";

/** Deletions since a time. `complete`: the log shows every deletion. */
export interface KnownDeletions {
  readonly deletions: readonly Deletion[];
  readonly complete: boolean;
}

/** Maximum pages to read. The log begins with its oldest entries: if it has more pages, the last ones are read. */
const MOST_PAGES = 10;

/** The deletions of every product since a time, from the activity log. */
export async function activityDeletions(
  connection: Getter,
  api: string,
  { since, now }: { since: number; now: number },
  options: ReadOptions = {},
): Promise<KnownDeletions> {
  const contract = connection.contractNumber ?? (await activityContract(connection, api, options));
  const from = Math.max(since, now - RETENTION_MS);
  // Whole days, which every form of the API accepts.
  const time = { start: new Date(from).toISOString().slice(0, 10) };
  const read = (offset: number) => activityPage(connection, api, { contract, time, offset }, options);
  const first = await read(0);
  const { total = 0 } = first;
  const sources: ActivitySource[] = [...first.sources];
  let isWhole = false;
  const begin = Math.max(first.sources.length, total - MOST_PAGES * activityPageSize);
  for (let offset = begin, pages = 0; pages < MOST_PAGES; pages++) {
    const page = await read(offset);
    isWhole = page.sources.length === 0;
    if (isWhole) break;
    sources.push(...page.sources);
    offset += page.sources.length;
  }
  const entries = sources.flatMap((source) => entryOf(source) ?? []);
  return {
    deletions: entries.filter((entry) => entry.time >= from && isDeletion(entry)).map(deletionOf),
    complete: isWhole && begin === first.sources.length && from === since,
  };
}

const DELETES = /\.(delete|release)$/;

const isDeletion = ({ action, source }: Entry): boolean =>
  DELETES.test(action) || (source.event?.param?.action === "DELETE" && !action.endsWith(".detach"));

function deletionOf({ requestId, time, user, status, resources, source }: Entry): Deletion {
  // An entry may also list resources that it only changes.
  const gone =
    source.event?.resources?.filter(({ action }) => !action?.length || action.some((each) => DELETES.test(each))) ??
    resources;
  return {
    requestId,
    path: "",
    status: status === "DONE" || status === "FAILED" ? status : source.event ? "BUSY" : "UNKNOWN",
    at: time,
    ...(user !== "" && { by: user }),
    targets: gone.flatMap(({ id }) => id ?? []),
  };
}
