import { z } from "zod";
import type { Platform } from "../scale/platform.ts";

/** A write that the platform worked on. Times are milliseconds since the epoch, by this machine's clock. */
export interface Work {
  readonly resource: string;
  readonly method: string;
  readonly begin: number;
  /** Undefined while the platform works on it. */
  readonly end: number | undefined;
}

const entry = z.object({
  _source: z.looseObject({
    meta: z.looseObject({ time: z.iso.datetime(), requestId: z.string() }),
    event: z.looseObject({
      type: z.string(),
      status: z.string(),
      param: z.looseObject({ action: z.string() }),
      resources: z.array(z.looseObject({ id: z.string() })),
    }),
  }),
});
const page = z.object({ hits: z.object({ total: z.number(), hits: z.array(entry) }) });
const simulatorState = z.looseObject({ now: z.iso.datetime(), contractNumber: z.number() });
const PAGE = 1000;

/** All accepted writes since a time, oldest first. The platform's activity log has their begin and their end. */
export async function readTimeline(platform: Platform, speed: number, since: number): Promise<Work[]> {
  const asked = Date.now();
  const { now, contractNumber } = simulatorState.parse(await platform.call("GET", "/_simulator/state"));
  // The platform's clock runs faster than ours: both are compared at one moment.
  const middle = (asked + Date.now()) / 2;
  const ours = (time: string) => middle + (Date.parse(time) - Date.parse(now)) / speed;
  const entries: z.output<typeof entry>[] = [];
  for (let total = 1; entries.length < total; ) {
    const path = `/activitylog/v1/contracts/${contractNumber}?limit=${PAGE}&offset=${entries.length}`;
    const { hits } = page.parse(await platform.call("GET", path));
    entries.push(...hits.hits);
    total = hits.hits.length === 0 ? 0 : hits.total;
  }
  const events = entries.map(({ _source: { meta, event } }) => ({
    at: ours(meta.time),
    request: meta.requestId,
    type: event.type,
    status: event.status,
    method: event.param.action,
    resource: event.resources[0]?.id ?? "",
  }));
  const begun = events.filter(({ type, method }) => type === "RequestAccepted" && method !== "GET");
  // The work of newer services has no request: its end has the id of the resource only.
  const endOf = ({ request, resource, at, status }: (typeof events)[number]) =>
    status === "DONE"
      ? at
      : events.find(
          (each) =>
            each.type === "Provision" && each.at >= at && (each.request === request || each.resource === resource),
        )?.at;
  return begun
    .filter(({ at }) => at >= since)
    .map((each) => ({ resource: each.resource, method: each.method, begin: each.at, end: endOf(each) }));
}
