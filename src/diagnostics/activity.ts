import { claimOf } from "../engine/state/object.ts";
import { type Entry, isRead } from "../platform/activity/entry.ts";
import { activityContract, activityPage, type Period } from "../platform/activity/log.ts";
import { readRange } from "../platform/activity/range.ts";
import { RETENTION_MS } from "../platform/activity/read.ts";
import { objectNamed } from "./objects.ts";
import type { PlatformReader } from "./reader.ts";
import type { Sources } from "./sources.ts";
import { momentOf } from "./time.ts";

/** Maximum entries to read for one question. */
const MOST_READ = 200_000;
/** Maximum entries in an answer. */
const MOST_SHOWN = 200;

/** The time that `since` names, within the retention of the log. */
export function sinceOf(text: string, now: number): number {
  return Math.max(timeOf("since", text, now), now - RETENTION_MS);
}

function timeOf(name: string, text: string, now: number): number {
  const at = momentOf(text, now);
  if (at === undefined) throw new Error(`${name}: "${text}" is not a time; write 15m, 1h, 7d or 2026-03-01T10:00Z`);
  return at;
}

/** The period of a question. */
export interface Asked {
  since: string;
  /** Set to continue a truncated answer. */
  until?: string | undefined;
}

/**
 * The platform's clock may be ahead of ours, and is not known before its first answers. Without `until`, the period ends
 * this much after now, so that the newest entries are not left out.
 */
const AHEAD_MS = 86_400_000;

export function periodOf({ since, until }: Asked, now: number): Period {
  return { from: sinceOf(since, now), to: until === undefined ? now + AHEAD_MS : timeOf("until", until, now) };
}

/** The result of a read of the log. */
export interface Found {
  /** Newest first. */
  entries: Entry[];
  /** Number of entries read, and number of entries in the period if the platform reports it. */
  read: number;
  total: number | undefined;
  /** All entries since this time were read; undefined if the whole period was read. */
  reachedTo: number | undefined;
}

/**
 * The newest matching entries of a period: about `most`, or all. Entries with the same time are never split, so that
 * another question can continue at that time.
 */
export async function newestEntries(
  platform: PlatformReader,
  {
    period,
    most,
    isWanted,
    contract,
  }: { period: Period; most: number; contract?: number; isWanted(entry: Entry): boolean },
  { signal, progress }: Pick<Sources, "signal" | "progress">,
): Promise<Found> {
  const api = platform.endpoint("api");
  const getter = {
    contractNumber: platform.contractNumber,
    send: (call: { method: "GET"; url: string; product: string }) => platform.read({ ...call, signal }),
  };
  const contractNumber = contract ?? (await activityContract(getter, api, { signal }));
  const found: Found = { entries: [], read: 0, total: undefined, reachedTo: undefined };
  const reading = readRange({
    async page(time, offset) {
      const page = await activityPage(getter, api, { contract: contractNumber, time, offset }, { signal });
      if (offset === 0) found.total = page.total;
      return page;
    },
    period,
    order: "newest first",
  });
  for await (const batch of reading) {
    for (const entry of batch) {
      const last = found.entries.at(-1);
      const isEnough = found.entries.length >= most && last?.time !== entry.time;
      if (isEnough || found.read >= MOST_READ) return { ...found, reachedTo: isEnough ? last?.time : entry.time + 1 };
      found.read += 1;
      if (isWanted(entry)) found.entries.push(entry);
    }
    progress(found.read, "entries of the activity log read");
  }
  return found;
}

/** The fields of a truncated answer; false if the answer is complete. */
export const truncation = ({ reachedTo }: Pick<Found, "reachedTo">) =>
  reachedTo !== undefined && {
    truncated: true,
    continue_with: { until: new Date(reachedTo).toISOString() },
    note: "older entries were not read; ask again with until from continue_with",
  };

/** The short form of an entry. */
export const shortEntry = ({ time, user, action, status, message, requestId, resources }: Entry) => ({
  time: new Date(time).toISOString(),
  user,
  action,
  status,
  message,
  request_id: requestId,
  resources: resources.map(({ type, id }) => `${type}/${id}`),
});

/** The newest of some changes, newest first, each once: the platform logs the end of a request twice. */
export function newestChanges(events: readonly ReturnType<typeof shortEntry>[], most: number) {
  const byText = new Map(events.map((each) => [`${each.time} ${each.user} ${each.action} ${each.status}`, each]));
  return [...byText.values()].slice(0, most);
}

/** Changes of an object's resource, with their users; newest first. */
export async function objectActivity(
  sources: Sources,
  asked: Asked & { kind: string; name: string; namespace?: string | undefined },
) {
  const { key, object } = await objectNamed(await sources.cluster(), asked, sources.signal);
  const claim = claimOf(object);
  if (claim === undefined) return { object: key, events: [], answer: `${key} has no resource on the platform` };
  const platform = await sources.platform();
  const { id, parents } = claim;
  // Some ids are unique only within their parent: every datacenter has a LAN 1.
  const isAbout = ({ resources, uri }: Entry) =>
    resources.some((each) => each.id === id) &&
    (!/^\d+$/.test(id) || Object.values(parents).some((parent) => uri.includes(parent)));
  const period = periodOf(asked, platform.now());
  const isWanted = (entry: Entry) => !isRead(entry) && isAbout(entry);
  const found = await newestEntries(platform, { period, most: MOST_SHOWN, isWanted }, sources);
  return { object: key, id, events: found.entries.map(shortEntry), read: found.read, ...truncation(found) };
}
