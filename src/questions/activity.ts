import { claimOf } from "../engine/objects/object.ts";
import { type Entry, entryOf, identityOf } from "../platform/activity/entry.ts";
import { type ActivitySource, activityContract, activityPage } from "../platform/activity/log.ts";
import { objectNamed } from "./objects.ts";
import type { PlatformReader } from "./reader.ts";
import type { Sources } from "./sources.ts";
import { momentOf } from "./time.ts";

const MOST_ENTRIES = 50_000;
const RETENTION_MS = 35 * 86_400_000;
const dateOf = (at: number) => new Date(at).toISOString().slice(0, 10);

/** The moment that an argument names. */
export function sinceOf(text: string, now: number): number {
  const at = momentOf(text, now);
  if (at === undefined) throw new Error(`since: "${text}" is no time; write 15m, 1h, 7d or 2026-03-01T10:00Z`);
  return Math.max(at, now - RETENTION_MS);
}

/** Entries of the activity log from a moment on, the oldest first. */
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
  const found = new Map<string, ActivitySource>();
  for (let offset = 0; found.size < MOST_ENTRIES; ) {
    const page = { contract, time: { start: dateOf(since) }, offset };
    const { sources } = await activityPage(getter, api, page, { signal });
    const before = found.size;
    for (const source of sources) found.set(identityOf(source), source);
    // Nothing new: behind the last page, or a list that ignores the offset.
    if (found.size === before) break;
    offset += sources.length;
    progress(found.size, "entries of the activity log read");
  }
  return [...found.values()]
    .flatMap((source) => entryOf(source) ?? [])
    .filter(({ time }) => time >= since)
    .sort((a, b) => a.time - b.time);
}

/** An entry in few words. */
const shown = ({ time, user, action, status, message, requestId, resources }: Entry) => ({
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
  return { object: key, id, events: all.filter(isAbout).map(shown), read: all.length };
}
