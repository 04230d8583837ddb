import { wholeNumber } from "../core/kind/listing.ts";
import type { Call, Forms, Reply, Route } from "../http/exchange.ts";
import { errorCode, invalid, refusal } from "../http/refusal.ts";
import { requirePrivilege } from "../identity/privileges.ts";
import { timestamp } from "../time.ts";
import type { World } from "../world.ts";
import { sourceOf } from "./entry.ts";

const base = "/activitylog/v1";
const day = 86_400_000;

/** The activity log: what happened in the caller's own contract, page by page. */
export function activityRoutes(world: World): Route[] {
  const { contractNumber } = world;

  function contracts(call: Call): Reply {
    requirePrivilege(world, call, "accessActivityLog");
    const href = `${call.origin}${base}/contracts/${contractNumber}`;
    return { status: 200, body: [{ id: contractNumber, type: "contracts", href }] };
  }

  function entries(call: Call): Reply {
    requirePrivilege(world, call, "accessActivityLog");
    if (call.params.contractNumber !== String(contractNumber)) {
      throw refusal(403, errorCode.denied, "Access denied: the contract is not yours");
    }
    const { from, to } = periodOf(call, world.forms);
    const offset = wholeNumber(call, "offset", 0, Number.MAX_SAFE_INTEGER, 0);
    const limit = wholeNumber(call, "limit", 1, 1000, 20);
    const found = world.activity.read(from, to);
    const hits = found.slice(offset, offset + limit).map((entry) => ({ _source: sourceOf(entry, world, call) }));
    return { status: 200, body: { hits: { total: found.length, hits } } };
  }

  const version = (call: Call): Reply => ({
    status: 200,
    body: { href: `${call.origin}${base}`, name: "Activity Log", version: "1.0" },
  });

  return [
    { method: "GET", template: base, access: "user", handle: version },
    ...(world.forms.public
      ? [{ method: "GET" as const, template: `${base}/contracts`, access: "user" as const, handle: contracts }]
      : []),
    { method: "GET", template: `${base}/contracts/{contractNumber}`, access: "user", handle: entries },
  ];
}

/**
 * Each form has its own parameters; `startDate` and `endDate` win over the others. `endDate` includes its day;
 * `dateEnd` is exclusive.
 */
function periodOf({ query, effects }: Call, forms: Forms): { from: number; to: number } {
  const read = (name: string, form: RegExp, words: string) => {
    const text = query.get(name);
    if (text === null || text === "") return undefined;
    const at = Date.parse(text);
    const day = text.slice(0, 10);
    // February 30 would become another day.
    const exists = !Number.isNaN(at) && timestamp(Date.parse(day)).startsWith(day);
    if (!form.test(text) || !exists) throw invalid(name, `must be ${words}`);
    return at - effects.skew;
  };
  const date = /^\d{4}-\d\d-\d\d$/;
  const moment = /^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d))?$/;
  const ofDay = (name: string) => (forms.described ? read(name, date, "a date such as 2026-03-01") : undefined);
  const ofMoment = (name: string) =>
    forms.public ? read(name, moment, "a date or a time such as 2026-03-01T10:00:00Z") : undefined;
  const startDate = ofDay("startDate");
  const endDate = ofDay("endDate");
  const from = startDate ?? ofMoment("dateStart") ?? Number.NEGATIVE_INFINITY;
  const to = (endDate === undefined ? ofMoment("dateEnd") : endDate + day) ?? Number.POSITIVE_INFINITY;
  return { from, to };
}
