import { claimOf } from "../engine/state/object.ts";
import { type Entry, isRead } from "../platform/activity/entry.ts";
import { activityContract, activityPage } from "../platform/activity/log.ts";
import { RETENTION_MS, readActivity } from "../platform/activity/read.ts";
import { objectNamed } from "./objects.ts";
import type { PlatformReader } from "./reader.ts";
import type { Sources } from "./sources.ts";
import { momentOf } from "./time.ts";

const MOST_ENTRIES = 50_000;

/** The moment that an argument names. */
export function sinceOf(text: string, now: number): number {
  const at = momentOf(text, now);
  if (at === undefined) throw new Error(`since: "${text}" is no time; write 15m, 1h, 7d or 2026-03-01T10:00Z`);
  return Math.max(at, now - RETENTION_MS);
}

/** Entries of the activity log from a moment on, the oldest first, but for reads. */
export async function entriesSince(
  platform: PlatformReader,
  since: number,
  { signal, progress }: Sources,
): Promise<Entry[]> {
  const api = platform.endpoint("api");
  const getter = {
    contractNumber: platform.contractNumber,
    send: (call: { method: "GET"; url: string; product: string }) => platform.read({ ...call, signal }),
  };
  const contract = await activityContract(getter, api, { signal });
  const entries: Entry[] = [];
  const reading = readActivity({
    page: async (time, offset) => (await activityPage(getter, api, { contract, time, offset }, { signal })).sources,
    now: platform.now,
    since,
  });
  for await (const batch of reading) {
    for (const entry of batch) if (!isRead(entry)) entries.push(entry);
    progress(entries.length, "entries of the activity log read");
    if (entries.length >= MOST_ENTRIES) break;
  }
  return entries.slice(0, MOST_ENTRIES);
}

/** One entry in few words. */
export const shortEntry = ({ time, user, action, status, message, requestId, resources }: Entry) => ({
  time: new Date(time).toISOString(),
  user,
  action,
  status,
  message,
  request_id: requestId,
  resources: resources.map(({ type, id }) => `${type}/${id}`),
});

/** Who changed the resource of an object. */
export async function objectActivity(
  sources: Sources,
  asked: { kind: string; name: string; namespace?: string | undefined; since: string },
) {
  const { key, object } = await objectNamed(await sources.cluster(), asked, sources.signal);
  const claim = claimOf(object);
  if (claim === undefined) return { object: key, events: [], answer: `${key} has no resource on the platform` };
  const platform = await sources.platform();
  const all = await entriesSince(platform, sinceOf(asked.since, platform.now()), sources);
  const { id, parents } = claim;
  // A number is an id in its parent only: every datacenter has a LAN 1.
  const isAbout = ({ resources, uri }: Entry) =>
    resources.some((each) => each.id === id) &&
    (!/^\d+$/.test(id) || Object.values(parents).some((parent) => uri.includes(parent)));
  return { object: key, id, events: all.filter(isAbout).map(shortEntry), read: all.length };
}
