import { z } from "zod";
import { known, patch } from "./compare.ts";
import {
  datacenterPath,
  datacenterReference,
  datacenterRules,
  formed,
  inDatacenter,
  managed,
  managedRules,
  platformName,
} from "./fields.ts";
import { type Kind, mapping } from "./kind.ts";

const spec = z.object({
  ...managed,
  ...inDatacenter,
  name: platformName("LAN"),
  public: z.boolean().optional().describe("Whether it leads to the internet. Default: as it is; a new LAN is private."),
  ipv6: formed(/^(AUTO|[0-9a-fA-F:]+\/64)$/, 49, "must be AUTO or a /64 block, for example fd00:2000:0:1::/64")
    .optional()
    .describe("IPv6 block of the LAN: AUTO lets the platform choose one, else a /64 of the datacenter's block."),
});

const status = z.object({
  public: z.boolean().optional().describe("Whether it leads to the internet."),
  ipv4CidrBlock: z.string().optional().describe("IPv4 block of a private LAN."),
  ipv6CidrBlock: z.string().optional().describe("IPv6 block, when it has one."),
});

const wire = z.object({
  id: z.string(),
  properties: z.object({
    name: z.string().nullish(),
    public: z.boolean().nullish(),
    ipv4CidrBlock: z.string().nullish(),
    ipv6CidrBlock: z.string().nullish(),
  }),
});

const collection = (parents: Readonly<Record<string, string>>) => `${datacenterPath(parents)}/lans`;

export const lan: Kind = {
  kind: "Lan",
  plural: "lans",
  shortNames: ["lan"],
  description: "A network of a datacenter, private or public. Its id is its number in the datacenter.",
  spec,
  status,
  rules: [...managedRules, ...datacenterRules],
  immutable: {
    datacenterRef: "a LAN cannot move to another datacenter",
    datacenterId: "a LAN cannot move to another datacenter",
  },
  columns: [
    { name: "Public", type: "boolean", path: ".status.public", description: "Whether it leads to the internet" },
    { name: "Datacenter", type: "string", path: ".spec.datacenterRef.name", description: "Datacenter", wide: true },
  ],
  resource: mapping(spec, {
    product: "core",
    noun: "lan",
    collection,
    depth: 1,
    holdsData: false,
    keptWhileUsed: true,
    references: (spec) => [datacenterReference(spec)],
    body: (spec, { name }) => ({
      properties: { name: spec.name ?? name, public: spec.public ?? false, ipv6CidrBlock: spec.ipv6 },
    }),
    compare(spec, item, { name, observed, parents }) {
      const { id, properties } = wire.parse(item);
      // Whatever block the platform has chosen is the wanted one.
      const chosen = spec.ipv6 === "AUTO" && properties.ipv6CidrBlock != null;
      return patch("", `${collection(parents)}/${encodeURIComponent(id)}`, {
        name: [spec.name ?? (observed ? undefined : name), properties.name],
        public: [spec.public, properties.public],
        ipv6CidrBlock: [chosen ? undefined : spec.ipv6, properties.ipv6CidrBlock],
      });
    },
    facts(item) {
      const { public: open, ipv4CidrBlock, ipv6CidrBlock } = wire.parse(item).properties;
      return known({ public: open, ipv4CidrBlock, ipv6CidrBlock });
    },
  }),
};
