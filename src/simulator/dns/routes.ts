import type { Call, Method, Reply, Route } from "../http/exchange.ts";
import { conflict } from "../http/refusal.ts";
import { create } from "../managed/lifecycle.ts";
import { managedRoutes } from "../managed/routes.ts";
import { hostRoute } from "../managed/service.ts";
import { listOf } from "../managed/view.ts";
import { recordsOf } from "../records/dns.ts";
import type { World } from "../world.ts";
import {
  checkQuota,
  checkRecord,
  dnsHost,
  quotaLimits,
  quotaUsage,
  recordKind,
  reverseRecordKind,
  secondaryZoneKind,
  zoneKind,
  zoneOf,
} from "./kinds.ts";
import { readSigning, signZone, unsignZone } from "./signing.ts";
import { listTransferred, readTransfer, startTransfer } from "./transfer.ts";
import { recordsIn, zoneFile } from "./zone-file.ts";

/** Zones and their records, secondary zones, reverse records, DNSSEC keys and zone files. */
export function dnsRoutes(world: World): Route[] {
  const route = (method: Method, path: string, handle: (world: World, call: Call) => Reply, mostBytes?: number) =>
    hostRoute(world, dnsHost, method, path, {
      handle: (call) => handle(world, call),
      ...(mostBytes !== undefined && { mostBytes }),
    });
  const zone = "/zones/{zoneId}";
  const secondary = "/secondaryzones/{secondaryZoneId}";
  return [
    ...managedRoutes(world, zoneKind),
    ...managedRoutes(world, recordKind),
    ...managedRoutes(world, secondaryZoneKind),
    ...managedRoutes(world, reverseRecordKind),
    route("GET", "/records", (_, call) => listOf(world, recordKind, call, "/records")),
    route("GET", `${zone}/zonefile`, readZoneFile),
    route("PUT", `${zone}/zonefile`, writeZoneFile, 1024 * 1024),
    route("GET", `${zone}/keys`, readSigning),
    route("POST", `${zone}/keys`, signZone),
    route("DELETE", `${zone}/keys`, unsignZone),
    route("GET", `${secondary}/records`, listTransferred),
    route("GET", `${secondary}/axfr`, readTransfer),
    route("PUT", `${secondary}/axfr`, startTransfer),
    route("GET", "/quota", () => ({ status: 200, body: { quotaUsage: quotaUsage(world), quotaLimits } })),
  ];
}

function readZoneFile(world: World, call: Call): Reply {
  const zone = zoneOf(world, call);
  const page = zoneFile(zone, recordsOf(world, zone.id));
  return { status: 200, page, headers: { "Content-Type": "text/plain; charset=utf-8" } };
}

/** Replaces all records by those of the file; unchanged records keep their ids. */
function writeZoneFile(world: World, call: Call): Reply {
  const zone = zoneOf(world, call);
  if (zone.state === "DESTROYING") throw conflict(`The zone ${zone.id} is being deleted`);
  const wanted = recordsIn(call.bytes?.toString() ?? "", zone.own.zoneName);
  for (const [index, record] of wanted.entries()) checkRecord(wanted.slice(0, index), record);
  const key = (record: object) => JSON.stringify(Object.entries({ ...record, zoneId: zone.id }).sort());
  const keys = new Set(wanted.map(key));
  const kept = new Set<string>();
  for (const { id, own } of recordsOf(world, zone.id)) {
    if (keys.has(key(own))) kept.add(key(own));
    else world.dns.records.delete(id);
  }
  const added = wanted.filter((record) => !kept.has(key(record)));
  checkQuota(world, "records", added.length);
  for (const record of added) create(world, recordKind, call, { own: { ...record, zoneId: zone.id } });
  return listOf(world, recordKind, call, `/zones/${zone.id}/records`);
}
