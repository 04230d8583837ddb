import { isIP } from "node:net";
import { z } from "zod";
import { checkedProperties, propertiesPath } from "../core/kind/body.ts";
import { ipv6Of } from "../core/network/ipv6.ts";
import type { Call } from "../http/exchange.ts";
import { conflict, errorCode, invalid, missing, refusal } from "../http/refusal.ts";
import { contains, type Managed } from "../managed/kind.ts";
import type { Host } from "../managed/service.ts";
import {
  type DnsRecord,
  fqdnOf,
  nameServers,
  type ReverseRecord,
  recordsOf,
  type SecondaryZone,
  type Zone,
} from "../records/dns.ts";
import type { Life, Own, Row } from "../records/life.ts";
import { textsIn } from "../store/resource.ts";
import { isVisible } from "../store/shown.ts";
import type { World } from "../world.ts";
import { isHostName, recordShape } from "./content.ts";

/** How much a contract may have. */
export const quotaLimits = { zones: 100, secondaryZones: 100, records: 10_000, reverseRecords: 1000 };

export const quotaUsage = ({ dns }: World): typeof quotaLimits => ({
  zones: dns.zones.size,
  secondaryZones: dns.secondaryZones.size,
  records: dns.records.size,
  reverseRecords: dns.reverseRecords.size,
});

/** Throws 422 if `more` of them would exceed the limit. */
export function checkQuota(world: World, what: keyof typeof quotaLimits, more = 1): void {
  if (quotaUsage(world)[what] + more <= quotaLimits[what]) return;
  throw refusal(422, errorCode.refused, `The contract can have at most ${quotaLimits[what]} ${what}`);
}

export const dnsHost: Host = { path: "dns", privilege: "accessAndManageDns" };

const zoneName = z
  .string()
  .refine((name) => isHostName(name) && name.replace(/\.$/, "").includes("."), "must be a domain name")
  .transform((name) => name.replace(/\.$/, "").toLowerCase());
const description = z.string().max(255, "must have at most 255 characters").nullish();

/** A name belongs to one zone of the contract, primary or secondary. */
function checkZoneName({ dns }: World, name: string, id: string | undefined): void {
  for (const row of [...dns.zones.values(), ...dns.secondaryZones.values()]) {
    if (row.own.zoneName !== name || row.id === id) continue;
    throw conflict(`The contract has the zone ${name} already (${row.id})`);
  }
}

/** The fields that primary and secondary zones share. */
const zoneLike = {
  host: dnsHost,
  param: "zoneId",
  change: "PUT" as const,
  statuses: { create: 202, change: 202 },
  span: [1_000, 4_000] as const,
  filters: {
    state: ({ state }: Life, value: string) => state === value.toUpperCase(),
    zoneName: ({ own }: Own<{ zoneName: string }>, value: string) => contains(own.zoneName, value),
  },
};

const described = ({ description: text }: { description: string | null }) =>
  text === null ? {} : { description: text };

const zoneShape = z.object({ zoneName, description, enabled: z.boolean().nullish() });

export const zoneKind: Managed<Own<Zone>> = {
  ...zoneLike,
  type: "zone",
  path: "/zones",
  table: ({ dns }) => dns.zones,
  given(world, call, before) {
    const { zoneName: name, description: text, enabled } = checkedProperties(zoneShape, call.body);
    if (before === undefined) checkQuota(world, "zones");
    else if (before.own.zoneName !== name) throw invalid(`${propertiesPath}.zoneName`, "cannot be changed");
    checkZoneName(world, name, before?.id);
    return { own: { zoneName: name, description: text ?? null, enabled: enabled ?? true } };
  },
  properties: ({ own }) => ({ zoneName: own.zoneName, ...described(own), enabled: own.enabled }),
  metadata: (_, { state }) => ({ state, nameservers: nameServers }),
  gone(world, { id }) {
    for (const record of recordsOf(world, id)) world.dns.records.delete(record.id);
    world.dns.signings.delete(id);
  },
};

/** The zone that a path names; 404 also while it cannot be seen yet. */
export function zoneOf({ dns }: World, { params, at }: Call): Row<Own<Zone>> {
  const zone = dns.zones.get(params.zoneId ?? "");
  if (zone === undefined || !isVisible(zone, at)) throw missing();
  return zone;
}

/** Throws 409 for a record beside a CNAME of the same name, and for one that exists already. */
export function checkRecord(others: Iterable<Omit<DnsRecord, "zoneId">>, record: Omit<DnsRecord, "zoneId">): void {
  const label = record.name === "" ? "@" : record.name;
  for (const other of others) {
    if (other.name !== record.name) continue;
    if (other.type === "CNAME" || record.type === "CNAME")
      throw conflict(`A CNAME for ${label} allows no other record`);
    if (other.type === record.type && other.content === record.content) {
      throw conflict(`There is a record ${label} ${record.type} with this content already`);
    }
  }
}

export const recordKind: Managed<Own<DnsRecord>> = {
  host: dnsHost,
  type: "record",
  path: "/zones/{zoneId}/records",
  param: "recordId",
  change: "PUT",
  statuses: { create: 202, change: 202 },
  span: [500, 2_000],
  table: ({ dns }) => dns.records,
  names: (_, { own: { zoneId } }) => ({ zoneId }),
  within(world, call) {
    if (call.params.zoneId === undefined) return () => true;
    const { id } = zoneOf(world, call);
    return ({ own }) => own.zoneId === id;
  },
  given(world, call, before) {
    const zone = zoneOf(world, call);
    if (zone.state === "DESTROYING") throw conflict(`The zone ${zone.id} is being deleted`);
    const record = checkedProperties(recordShape, call.body);
    if (before === undefined) checkQuota(world, "records");
    const others = recordsOf(world, zone.id).filter(({ id }) => id !== before?.id);
    checkRecord(
      others.map(({ own }) => own),
      record,
    );
    return { own: { ...record, zoneId: zone.id } };
  },
  properties({ own: { zoneId: _, priority, ...own } }) {
    return priority === null ? own : { ...own, priority };
  },
  metadata({ dns }, { state, own }) {
    const { zoneName: zone = "" } = dns.zones.get(own.zoneId)?.own ?? {};
    return { state, fqdn: fqdnOf(own.name, zone), zoneId: own.zoneId };
  },
  filters: {
    zoneId: ({ own }, value) => own.zoneId === value,
    name: ({ own }, value) => contains(own.name, value),
    state: ({ state }, value) => state === value.toUpperCase(),
    type: ({ own }, value) => own.type === value.toUpperCase(),
  },
};

const primariesRule = "must be 1 to 5 IP addresses";
const secondaryShape = z.object({
  zoneName,
  description,
  primaryIps: z
    .array(z.string().refine((ip) => isIP(ip) !== 0, "must be an IP address"))
    .min(1, primariesRule)
    .max(5, primariesRule),
});

export const secondaryZoneKind: Managed<Own<SecondaryZone>> = {
  ...zoneLike,
  type: "secondaryzone",
  path: "/secondaryzones",
  param: "secondaryZoneId",
  table: ({ dns }) => dns.secondaryZones,
  given(world, call, before) {
    const { zoneName: name, description: text, primaryIps } = checkedProperties(secondaryShape, call.body);
    if (before === undefined) checkQuota(world, "secondaryZones");
    else if (before.own.zoneName !== name) throw invalid(`${propertiesPath}.zoneName`, "cannot be changed");
    checkZoneName(world, name, before?.id);
    return { own: { zoneName: name, description: text ?? null, primaryIps, transferredAt: call.at } };
  },
  properties: ({ own }) => ({ zoneName: own.zoneName, ...described(own), primaryIps: own.primaryIps }),
  metadata: (_, { state }) => ({ state, nameservers: nameServers }),
};

const reverseShape = z.object({
  name: z.string().refine(isHostName, "must be a host name"),
  ip: z.string().refine((ip) => isIP(ip) !== 0, "must be an IP address"),
  description,
});

/** The contract's own addresses: reserved ones, and those that NICs have by IPv6. */
function ownsAddress(world: World, ip: string): boolean {
  const { resources } = world;
  for (const { properties } of resources.ofType("ipblock")) if (textsIn(properties, "ips").includes(ip)) return true;
  for (const nic of resources.ofType("nic")) if (textsIn(ipv6Of(world, nic), "ipv6Ips").includes(ip)) return true;
  return false;
}

export const reverseRecordKind: Managed<Own<ReverseRecord>> = {
  host: dnsHost,
  type: "reverserecord",
  path: "/reverserecords",
  param: "reverseRecordId",
  change: "PUT",
  statuses: { create: 201, change: 200 },
  table: ({ dns }) => dns.reverseRecords,
  given(world, call, before) {
    const { name, ip, description: text } = checkedProperties(reverseShape, call.body);
    if (before === undefined) checkQuota(world, "reverseRecords");
    if (!ownsAddress(world, ip))
      throw invalid(`${propertiesPath}.ip`, "must be an address of an IP block of the contract");
    const other = [...world.dns.reverseRecords.values()].find((row) => row.own.ip === ip && row.id !== before?.id);
    if (other !== undefined) throw conflict(`The address ${ip} has a reverse record already (${other.id})`);
    return { own: { name, ip, description: text ?? null } };
  },
  properties: ({ own }) => ({ name: own.name, ip: own.ip, ...described(own) }),
  metadata: () => ({}),
  filters: { recordIp: ({ own }, value) => value.split(",").includes(own.ip) },
};
