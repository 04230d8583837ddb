import { uuidOfName } from "../chance.ts";
import type { Call, Reply } from "../http/exchange.ts";
import { found } from "../managed/routes.ts";
import { stampsOf, urnOf } from "../managed/service.ts";
import { pageReply } from "../managed/view.ts";
import { fqdnOf, type SecondaryZone } from "../records/dns.ts";
import type { Own, Row } from "../records/life.ts";
import type { World } from "../world.ts";
import { dnsHost, secondaryZoneKind } from "./kinds.ts";

/** The records that a primary server would send for a zone: always the same for its name. */
function transferred({ zoneName, primaryIps }: SecondaryZone) {
  const last = 1 + (Number.parseInt(uuidOfName(zoneName).slice(0, 4), 16) % 254);
  return [
    { name: "", type: "NS", content: `ns1.${zoneName}`, ttl: 86_400 },
    { name: "ns1", type: primaryIps[0]?.includes(":") ? "AAAA" : "A", content: primaryIps[0] ?? "", ttl: 86_400 },
    { name: "", type: "A", content: `198.51.100.${last}`, ttl: 3600 },
    { name: "www", type: "CNAME", content: zoneName, ttl: 3600 },
    { name: "", type: "MX", content: `mail.${zoneName}`, ttl: 3600, priority: 10 },
  ];
}

/** The records of a secondary zone, from its first transfer on. */
export function listTransferred(world: World, call: Call): Reply {
  const zone = found(world, secondaryZoneKind, call);
  const { id: zoneId, own } = zone;
  const records = zone.state === "PROVISIONING" ? [] : transferred(own);
  const path = `/secondaryzones/${zoneId}/records`;
  const reply = pageReply(call, dnsHost, path, records, (properties) => {
    const fqdn = fqdnOf(properties.name, own.zoneName);
    const id = uuidOfName(`${zoneId}/${fqdn}/${properties.type}`);
    return {
      id,
      type: "record",
      href: `${call.origin}/${dnsHost.path}${path}/${id}`,
      metadata: {
        ...stampsOf(world, call, { ...zone, modifiedAt: own.transferredAt }),
        resourceURN: urnOf(world, dnsHost, "record", id),
        fqdn,
        zoneId,
        rootName: own.zoneName,
      },
      properties: { ...properties, enabled: true },
    };
  });
  return { ...reply, body: { ...Object(reply.body), metadata: { primaryIps: own.primaryIps } } };
}

export function readTransfer(world: World, call: Call): Reply {
  return { status: 202, body: shownTransfer(found(world, secondaryZoneKind, call)) };
}

/** Asks the primary servers again. */
export function startTransfer(world: World, call: Call): Reply {
  const zone = found(world, secondaryZoneKind, call);
  const next = { ...zone, own: { ...zone.own, transferredAt: call.at } };
  world.dns.secondaryZones.put(zone.id, next);
  return { status: 202, body: shownTransfer(next) };
}

const shownTransfer = ({ state, own }: Row<Own<SecondaryZone>>) => ({
  type: "axfr",
  items: own.primaryIps.map((primaryIp) => ({ primaryIp, status: state === "PROVISIONING" ? "PENDING" : "OK" })),
});
