import { claimOf } from "../engine/objects/object.ts";
import { type ActivitySource, activityContract, activityPage } from "../platform/activity-log.ts";
import { objectNamed } from "./objects.ts";
import type { PlatformReader } from "./reader.ts";
import type { Sources } from "./sources.ts";
import { momentOf } from "./time.ts";

/** One entry in few words. */
export interface Entry {
  time: string;
  user: string;
  action: string;
  status: string;
  message: string;
  request_id: string;
  resources: string[];
}

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
): Promise<{ entry: Entry; source: ActivitySource }[]> {
  const api = platform.endpoint("api");
  const getter = {
    contractNumber: platform.contractNumber,
    send: (call: { method: "GET"; url: string; product: string }) => platform.read({ ...call, signal }),
  };
  const contract = await activityContract(getter, api, { signal });
  const sources: ActivitySource[] = [];
  const seen = new Set<string>();
  while (sources.length < MOST_ENTRIES) {
    const page = { contract, days: { start: dateOf(since) }, offset: sources.length };
    const next = (await activityPage(getter, api, page, { signal })).filter((each) => !seen.has(JSON.stringify(each)));
    if (next.length === 0) break;
    for (const each of next) seen.add(JSON.stringify(each));
    sources.push(...next);
    progress(sources.length, "entries of the activity log read");
  }
  return sources
    .map((source) => ({ entry: entryOf(source), source }))
    .filter(({ entry: { time } }) => Date.parse(time) >= since)
    .sort((a, b) => Date.parse(a.entry.time) - Date.parse(b.entry.time));
}

function entryOf({ meta, principal, event, ...top }: ActivitySource): Entry {
  const resources = event?.resources ?? [];
  return {
    time: top.time ?? meta?.time ?? "",
    user: top.user ?? principal?.identity?.username ?? "",
    action: top.action ?? resources[0]?.action?.[0] ?? event?.param?.action ?? "",
    status: event?.status ?? "",
    message: event?.message ?? "",
    request_id: meta?.requestId ?? "",
    resources: resources.map(({ type, id }) => `${type ?? ""}/${id ?? ""}`),
  };
}

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
  const isAbout = ({ source: { event } }: (typeof all)[number]) =>
    event?.resources?.some((each) => each.id === id) &&
    (!/^\d+$/.test(id) || Object.values(parents).some((parent) => event.param?.uri?.includes(parent)));
  return { object: key, id, events: all.filter(isAbout).map(({ entry }) => entry), read: all.length };
}
