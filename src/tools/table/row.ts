import { z } from "zod";
import type { Sources } from "../../diagnostics/sources.ts";

/** Groups of tools: clients load and search them together, and each has a section in the docs. */
export const groups = {
  compute: "Compute: datacenters, servers, volumes, networks, load balancers, images, requests",
  k8s: "Managed Kubernetes clusters of the contract",
  objectstorage: "Object storage: buckets, their configuration, objects, access keys, regions",
  dns: "DNS zones and records",
  cert: "Certificate manager",
  billing: "Usage, invoices and prices",
  activitylog: "Activity log: who changed what",
  mooring: "Mooring's objects in the Kubernetes cluster, and what they mean on the platform",
} as const;
export type Group = keyof typeof groups;

/** The APIs to read, each at its own address. */
export type Api = "core" | "activitylog" | "billing" | "dns" | "certificates" | "management" | "storage";

/** The work of a tool: one read of the platform, one question to both sides, or a fixed text. */
export type Work =
  | { read: Read }
  | { ask: (sources: Sources, args: Record<string, unknown>) => Promise<unknown> }
  | { text: string; as: string };

export interface Read {
  api: Api;
  method: "GET" | "HEAD";
  /** Path below the base address of the API; `{name}` is replaced by the argument of that name. */
  path: string;
  query(args: Record<string, unknown>, now: number): Record<string, string>;
  /** Whether the answer has pages, which are then read one after the other. */
  paged: boolean;
  /** If set, the answer is text, and the result has it under this name. */
  textAs?: string;
  /** The result for the caller; `second` is the answer of the second path. */
  shape(answer: unknown, args: Record<string, unknown>, headers: Record<string, string>, second?: unknown): unknown;
  /** A second path of the same API with additional data. If it cannot be read, the result says so. */
  second?: string;
  /** The region of an object storage call: the default one, or the bucket's. */
  region?: "default" | "bucket";
}

/** A tool as data. One function performs all of them. */
export interface Row {
  name: string;
  group: Group;
  /** When to use it, and what to call next. */
  description: string;
  args: z.ZodObject;
  result: z.ZodType;
  /** How to ask for less if a result is too large. */
  narrow: string;
  work: Work;
}

/** Results: the fields that Mooring relies on; others pass through. */
export const resource = z.looseObject({ id: z.string() });
export const list = z.looseObject({ items: z.array(z.looseObject({})), note: z.string().optional() });
export const anything = z.looseObject({});

const id = (what: string) =>
  z
    .string()
    .regex(/^[A-Za-z0-9][\w.-]{0,127}$/, "must be an id of the platform")
    .describe(what);
const month = (what: string) =>
  z
    .string()
    .regex(/^\d{4}-(0[1-9]|1[0-2])$/, "must be a month, YYYY-MM")
    .describe(what);
export const day = (what: string) => z.iso.date("must be a date, YYYY-MM-DD").describe(what);

export const contractNumber = z
  .union([z.int().min(1).max(9_999_999_999), z.string().regex(/^\d{1,10}$/, "must be a contract number")])
  // The billing tools write it with leading zeros.
  .transform(Number)
  .describe("Contract number, from get_billing_profile or list_activitylog_contracts.");

/** Every argument that can occur in a path. */
const pathArguments: Record<string, z.ZodType> = {
  datacenter_id: id("Id of the datacenter, from list_datacenters."),
  server_id: id("Id of the server, from list_servers."),
  gpu_id: id("Id of the GPU, from list_server_gpus."),
  volume_id: id("Id of the volume, from list_volumes."),
  nic_id: id("Id of the NIC, from list_nics."),
  // Some clients send it as a number.
  lan_id: z
    .union([z.int().min(0).max(999_999), z.string().regex(/^\d{1,6}$/, "must be the number of a LAN")])
    .transform(String)
    .describe("Number of the LAN, from list_lans."),
  firewallrule_id: id("Id of the rule, from list_firewall_rules."),
  ipblock_id: id("Id of the IP block, from list_ip_blocks."),
  loadbalancer_id: id("Id, from list_loadbalancers."),
  network_loadbalancer_id: id("Id, from list_network_loadbalancers."),
  application_loadbalancer_id: id("Id, from list_application_loadbalancers."),
  nat_gateway_id: id("Id, from list_nat_gateways."),
  security_group_id: id("Id, from list_security_groups."),
  rule_id: id("Id of the rule, from list_security_group_rules."),
  target_group_id: id("Id, from list_target_groups."),
  pcc_id: id("Id, from list_private_cross_connects."),
  snapshot_id: id("Id, from list_snapshots."),
  template_id: id("Id, from list_templates."),
  request_id: id("Id of the request, from list_requests or status.request.id of an object."),
  k8s_cluster_id: id("Id, from list_k8s_clusters."),
  nodepool_id: id("Id, from list_k8s_nodepools."),
  node_id: id("Id, from list_k8s_nodepool_nodes."),
  bucket: z
    .string()
    .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, "must be the name of a bucket")
    .describe("Name of the bucket, from list_object_storage_buckets."),
  key: z
    .string()
    .min(1)
    .max(1024)
    .regex(/^[^\p{Cc}]+$/u, "must not contain control characters")
    .describe("Key of the object, from list_object_storage_objects."),
  access_key_id: id("Id, from list_object_storage_access_keys."),
  region: id("Name of the region, from list_object_storage_regions."),
  zone_id: id("Id of the zone, from list_dns_zones."),
  record_id: id("Id of the record, from list_dns_zone_records."),
  secondary_zone_id: id("Id, from list_dns_secondary_zones."),
  reverse_record_id: id("Id, from list_dns_reverse_records."),
  certificate_id: id("Id, from list_cert_certificates."),
  auto_certificate_id: id("Id, from list_cert_auto_certificates."),
  provider_id: id("Id, from list_cert_providers."),
  contract: contractNumber,
  invoice_id: id("Id, from list_billing_invoices."),
  period: month("Month, YYYY-MM."),
  date: day("Day, YYYY-MM-DD."),
};

/** The arguments that occur in a path. */
export function argumentsIn(path: string): Record<string, z.ZodType> {
  return Object.fromEntries(
    [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => {
      const schema = pathArguments[name];
      if (!schema) throw new Error(`${path}: no argument is called ${name}`);
      return [name, schema];
    }),
  );
}

/** The arguments of a call: those of its schema, and those in the path. */
type Given<Shape extends z.ZodRawShape> = z.output<z.ZodObject<Shape>> & Record<string, unknown>;

/** Arguments that are valid alone but not together. The caller gets the message. */
export class BadArguments extends Error {
  override readonly name = "BadArguments";
}

export interface ReadRow<Shape extends z.ZodRawShape> {
  name: string;
  group: Group;
  description: string;
  api: Api;
  path: string;
  method?: "HEAD";
  /** Arguments besides those in the path. */
  args?: Shape;
  result?: z.ZodType;
  narrow?: string;
  query?(args: Given<Shape>, now: number): Record<string, string>;
  textAs?: string;
  shape?(answer: unknown, args: Given<Shape>, headers: Record<string, string>, second?: unknown): unknown;
  second?: string;
  region?: "default" | "bucket";
}

/** A tool that reads one path. Its schema validates the arguments first. */
export function reading<Shape extends z.ZodRawShape>(row: ReadRow<Shape>): Row {
  const own = z.strictObject(row.args ?? ({} as Shape));
  const typed = (args: Record<string, unknown>): Given<Shape> => ({
    ...args,
    ...own.parse(Object.fromEntries(Object.keys(own.shape).map((name) => [name, args[name]]))),
  });
  const { query, shape, textAs, region, second } = row;
  const paged = row.name.startsWith("list_");
  return {
    name: row.name,
    group: row.group,
    description: row.description,
    args: z.strictObject({ ...argumentsIn(row.path), ...own.shape }),
    result: row.result ?? (paged ? list : anything),
    narrow: row.narrow ?? "ask for one of them by its id",
    work: {
      read: {
        api: row.api,
        method: row.method ?? "GET",
        path: row.path,
        paged,
        query: (args, now) => query?.(typed(args), now) ?? {},
        shape: (answer, args, headers, more) => {
          const shown = shape ? shape(answer, typed(args), headers, more) : answer;
          // Structured content must be an object.
          return Array.isArray(shown) ? { items: shown } : shown;
        },
        ...(textAs !== undefined && { textAs }),
        ...(region && { region }),
        ...(second !== undefined && { second }),
      },
    },
  };
}
