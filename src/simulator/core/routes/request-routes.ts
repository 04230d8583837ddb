import type { Call, Reply, Route } from "../../http/exchange.ts";
import { errorCode, missing, refusal } from "../../http/refusal.ts";
import type { RequestRecord } from "../../records/requests.ts";
import { basePath, hrefOf } from "../../store/resource.ts";
import { timestamp } from "../../time.ts";
import type { World } from "../../world.ts";
import { depthOf, etagOf, type Listed, listReply } from "../kind/listing.ts";
import { referenceTo } from "../provisioning/reading.ts";

/** The request log: every accepted write with its body and its progress. */
export function requestRoutes(world: World): Route[] {
  const find = (call: Call): RequestRecord => {
    const record = world.requests.get(call.params.requestId ?? "");
    if (record === undefined) throw missing();
    return record;
  };
  return [
    { method: "GET", template: `${basePath}/requests`, access: "user", handle: (call) => list(world, call) },
    {
      method: "GET",
      template: `${basePath}/requests/{requestId}`,
      access: "user",
      handle(call) {
        const item = listed(world, call, find(call));
        return withEtag(call, item.etag, item.full(depthOf(call)));
      },
    },
    {
      method: "GET",
      template: `${basePath}/requests/{requestId}/status`,
      access: "user",
      handle(call) {
        const record = find(call);
        // A status has no depth, but an invalid one is refused.
        depthOf(call);
        return withEtag(call, etagFor(record), status(world, call, record));
      },
    },
  ];
}

const withEtag = (call: Call, etag: string, body: object): Reply => ({
  status: 200,
  headers: call.query.has("depth") ? {} : { ETag: etag },
  body,
});

const etagFor = ({ id, status }: RequestRecord) => etagOf(`${id}@${status}`);

function list(world: World, call: Call): Reply {
  const records = [...world.requests.values()].reverse();
  const statusOf = new Map<Listed, RequestRecord["status"]>();
  const items = records.map((record) => {
    const item = listed(world, call, record);
    statusOf.set(item, record.status);
    return item;
  });
  const matchesStatus = (values: string[]) => {
    // QUEUED and RUNNING are older names of BUSY.
    const wanted = values.map((value) => (/^(queued|running)$/i.test(value) ? "BUSY" : value.toUpperCase()));
    return (item: Listed) => wanted.some((each) => statusOf.get(item) === each);
  };
  const { skew } = call.effects;
  return listReply(call, {
    id: "requests",
    href: hrefOf(call.origin, "requests"),
    paged: true,
    items,
    special(name, values) {
      switch (name) {
        case "status":
          return matchesStatus(values);
        case "requestStatus":
          return depthOf(call) > 0 ? matchesStatus(values) : () => true;
        case "createdAfter": {
          const after = Math.min(...values.map((value) => instant(name, value)));
          return (item) => item.createdAt + skew >= after;
        }
        case "createdBefore": {
          const before = Math.max(...values.map((value) => instant(name, value)));
          return (item) => item.createdAt + skew < before;
        }
        case "createdDate":
          if (depthOf(call) === 0) return () => true;
          return (item) => {
            const iso = timestamp(item.createdAt + skew);
            return values.some((value) => iso.includes(value) || iso.replace("T", " ").includes(value));
          };
        default:
          return undefined;
      }
    },
  });
}

/** `yyyy-MM-dd HH:mm:ss` in UTC, or an ISO date-time. */
function instant(name: string, text: string): number {
  const iso = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(text) ? `${text.replace(" ", "T")}Z` : text;
  const at = Date.parse(iso);
  if (Number.isNaN(at)) {
    throw refusal(422, errorCode.validation, `[filter.${name}] must have the form yyyy-MM-dd HH:mm:ss`);
  }
  return at;
}

function listed(world: World, call: Call, record: RequestRecord): Listed {
  const reference = { id: record.id, type: "request", href: hrefOf(call.origin, `requests/${record.id}`) };
  const metadata = (withStatus: boolean) => ({
    createdDate: timestamp(record.createdAt + call.effects.skew),
    createdBy: world.identity.users.get(record.createdBy)?.username ?? "",
    createdByUserId: record.createdBy,
    etag: etagFor(record),
    requestStatus: withStatus ? status(world, call, record) : statusReference(call, record),
  });
  const { method, headers, body, url } = record;
  return {
    createdAt: record.createdAt,
    etag: etagFor(record),
    reference: () => reference,
    metadata: () => metadata(true),
    properties: () => ({ method, headers, body, url }),
    full: (depth) => ({
      ...reference,
      metadata: metadata(depth > 1),
      properties: { method, headers, body, url },
    }),
  };
}

function statusReference(call: Call, { id }: RequestRecord) {
  return { id: `${id}/status`, type: "request-status", href: hrefOf(call.origin, `requests/${id}/status`) };
}

function status({ forms }: World, call: Call, record: RequestRecord) {
  // A running request is BUSY in the described form, RUNNING in the public one.
  const word = record.status === "BUSY" && !forms.described ? "RUNNING" : record.status;
  return {
    ...statusReference(call, record),
    metadata: {
      status: word,
      message: record.message,
      etag: etagFor(record),
      targets: record.targets.map((target) => ({ target: referenceTo(call.origin, target), status: word })),
    },
  };
}
