import { z } from "zod";
import type { Documents } from "../store/documents.ts";
import { type Own, type Row, rowSchema } from "./life.ts";

export const recordTypes = [
  ...["A", "AAAA", "CNAME", "ALIAS", "MX", "NS", "SRV", "TXT", "CAA", "SSHFP", "TLSA", "SMIMEA", "DS", "HTTPS", "SVCB"],
  ...["OPENPGPKEY", "CERT", "URI", "RP", "LOC"],
] as const;

const zoneSchema = z.object({
  zoneName: z.string(),
  description: z.string().nullable(),
  enabled: z.boolean(),
});

const recordSchema = z.object({
  zoneId: z.string(),
  /** Relative to the zone; empty for the zone itself. */
  name: z.string(),
  type: z.string(),
  content: z.string(),
  ttl: z.number(),
  priority: z.number().nullable(),
  enabled: z.boolean(),
});

const secondaryZoneSchema = z.object({
  zoneName: z.string(),
  description: z.string().nullable(),
  primaryIps: z.array(z.string()).readonly(),
  /** When its records were last asked for. */
  transferredAt: z.number(),
});

const reverseRecordSchema = z.object({ name: z.string(), ip: z.string(), description: z.string().nullable() });

const signingSchema = z.object({
  validity: z.number(),
  algorithm: z.string(),
  kskBits: z.number(),
  zskBits: z.number(),
  nsecMode: z.enum(["NSEC", "NSEC3"]),
  nsec3Iterations: z.number(),
  nsec3SaltBits: z.number(),
  createdAt: z.number(),
  createdBy: z.string(),
});

export type Zone = Readonly<z.infer<typeof zoneSchema>>;
export type DnsRecord = Readonly<z.infer<typeof recordSchema>>;
export type SecondaryZone = Readonly<z.infer<typeof secondaryZoneSchema>>;
export type ReverseRecord = Readonly<z.infer<typeof reverseRecordSchema>>;
/** How a zone is signed; its keys follow from its id and from this. */
export type Signing = Readonly<z.infer<typeof signingSchema>>;

/** Everything that the platform remembers of DNS. */
export function createDnsRecords(documents: Documents) {
  return {
    zones: documents.table("dns-zones", rowSchema(zoneSchema)),
    records: documents.table("dns-records", rowSchema(recordSchema)),
    secondaryZones: documents.table("dns-secondary-zones", rowSchema(secondaryZoneSchema)),
    reverseRecords: documents.table("dns-reverse-records", rowSchema(reverseRecordSchema)),
    /** By the zone's id. */
    signings: documents.table("dns-signings", signingSchema),
  };
}

export type DnsRecords = ReturnType<typeof createDnsRecords>;

export const recordsOf = ({ dns }: { dns: DnsRecords }, zoneId: string): Row<Own<DnsRecord>>[] =>
  [...dns.records.values()].filter(({ own }) => own.zoneId === zoneId);

export const fqdnOf = (name: string, zoneName: string) => (name === "" ? zoneName : `${name}.${zoneName}`);

export const nameServers = ["com", "de", "org", "biz"].map((end) => `ns-ic.ui-dns.${end}`);
