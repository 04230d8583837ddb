import { z } from "zod";
import { list, type Row, reading, resource } from "./row.ts";

const row = (name: string, path: string, description: string, result?: z.ZodType) =>
  reading({
    name,
    group: "dns",
    api: "dns",
    path,
    description,
    result: result ?? (name.startsWith("list_") ? list : resource),
    narrow: "ask for the records of one zone with list_dns_zone_records",
  });

export const dns: readonly Row[] = [
  row(
    "list_dns_zones",
    "/zones",
    "DNS zones with state and name servers. Start here for DNS; then list_dns_zone_records.",
  ),
  row("get_dns_zone", "/zones/{zone_id}", "One zone: name, enabled or not, name servers to set at the registrar."),
  reading({
    name: "get_dns_zone_file",
    group: "dns",
    api: "dns",
    path: "/zones/{zone_id}/zonefile",
    description: "The whole zone as a BIND zone file, as plain text. The shortest way to see all records of a zone.",
    result: z.object({ zone_file: z.string() }),
    textAs: "zone_file",
  }),
  row("list_dns_records", "/records", "Records of all zones. For one zone use list_dns_zone_records."),
  row("list_dns_zone_records", "/zones/{zone_id}/records", "Records of one zone: name, type, content, TTL and state."),
  row("get_dns_record", "/zones/{zone_id}/records/{record_id}", "One record with its full name (metadata.fqdn)."),
  row("list_dns_secondary_zones", "/secondaryzones", "Secondary zones, which are copied from primaries elsewhere."),
  row(
    "get_dns_secondary_zone",
    "/secondaryzones/{secondary_zone_id}",
    "One secondary zone and its primaries. Then get_dns_secondary_zone_axfr.",
  ),
  row(
    "list_dns_secondary_zone_records",
    "/secondaryzones/{secondary_zone_id}/records",
    "Records that were copied into a secondary zone.",
  ),
  row(
    "get_dns_secondary_zone_axfr",
    "/secondaryzones/{secondary_zone_id}/axfr",
    "How the last zone transfers went, by primary. Use it when a secondary zone is out of date.",
    list,
  ),
  row("list_dns_reverse_records", "/reverserecords", "Reverse (PTR) records of the contract's addresses."),
  row("get_dns_reverse_record", "/reverserecords/{reverse_record_id}", "One reverse record."),
  row(
    "list_dns_zone_dnssec_keys",
    "/zones/{zone_id}/keys",
    "Public DNSSEC keys of a zone and the digests for the registrar. An error means that the zone is not signed.",
    z.looseObject({ metadata: z.looseObject({ items: z.array(z.looseObject({})) }) }),
  ),
  row(
    "get_dns_quota",
    "/quota",
    "How many zones and records there are, and how many there may be.",
    z.looseObject({ quotaUsage: z.looseObject({}), quotaLimits: z.looseObject({}) }),
  ),
];
