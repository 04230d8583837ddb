import { z } from "zod";
import { known, patch, wantedName } from "../fields/compare.ts";
import {
  coreItem,
  datacenterPath,
  datacenterReference,
  datacenterRules,
  inDatacenter,
  lanId,
  managed,
  managedRules,
  platformName,
} from "../fields/fields.ts";
import { ipv6Block, oneSpelling } from "../fields/network/addresses.ts";
import { readsOf } from "../fields/reads.ts";
import { type Kind, mapping } from "../kind.ts";
import { clustersInLan } from "../streaming/kafka-connection.ts";

const AUTO = "AUTO";

const spec = z.object({
  ...managed,
  ...inDatacenter,
  externalId: lanId()
    .optional()
    .describe("Number of an existing LAN to adopt instead of creating one. Can be removed later, not changed."),
  name: platformName("LAN"),
  public: z.boolean().optional().describe("Public if true. If unset, left unchanged; a new Lan is private."),
  ipv6: ipv6Block(64, [AUTO], "fd00:2000:0:1::")
    .optional()
    .describe("IPv6 block of the LAN: AUTO, or a /64 of the datacenter's block."),
});

const status = z.object({
  public: z.boolean().optional().describe("True if it is public."),
  ipv4CidrBlock: z.string().optional().describe("IPv4 block of a private LAN."),
  ipv6CidrBlock: z.string().optional().describe("IPv6 block, if it has one."),
});

const wire = coreItem({
  name: z.string().nullish(),
  public: z.boolean().nullish(),
  ipv4CidrBlock: z.string().nullish(),
  ipv6CidrBlock: z.string().nullish(),
});

const collection = (parents: Readonly<Record<string, string>>) => `${datacenterPath(parents)}/lans`;

export const lan: Kind = {
  kind: "Lan",
  plural: "lans",
  shortNames: ["lan"],
  free: true,
  description: "A network of a datacenter, private or public. Its id is its number in the datacenter.",
  spec,
  status,
  rules: [...managedRules, ...datacenterRules],
  immutable: {
    datacenterRef: "a LAN cannot move to another datacenter",
    datacenterId: "a LAN cannot move to another datacenter",
  },
  columns: [
    { name: "Public", type: "boolean", path: ".status.public", description: "True if it is public" },
    { name: "Datacenter", type: "string", path: ".spec.datacenterRef.name", description: "Datacenter", wide: true },
  ],
  resource: mapping(spec, {
    names: { type: "lan" },
    identity: { reusesIds: true },
    place: {
      product: "core",
      collection,
      depth: 1,
      reads: readsOf(wire),
      references: (spec) => [datacenterReference(spec)],
    },
    creation: {
      body: (spec, { name }) => ({
        properties: { name: spec.name ?? name, public: spec.public ?? false, ipv6CidrBlock: spec.ipv6 },
      }),
    },
    comparison: {
      compare(spec, item, inputs) {
        const { id, properties } = wire.parse(item);
        // With AUTO, any block that the platform chose matches.
        const chosen = spec.ipv6 === AUTO && properties.ipv6CidrBlock != null;
        return patch("", `${collection(inputs.parents)}/${encodeURIComponent(id)}`, {
          name: [wantedName(spec, inputs), properties.name],
          public: [spec.public, properties.public],
          ipv6CidrBlock: [chosen ? undefined : oneSpelling(spec.ipv6), oneSpelling(properties.ipv6CidrBlock)],
        });
      },
      facts(item) {
        const { public: open, ipv4CidrBlock, ipv6CidrBlock } = wire.parse(item).properties;
        return known({ public: open, ipv4CidrBlock, ipv6CidrBlock });
      },
    },
    destruction: { holdsData: false, contents: { reads: {}, elsewhere: [clustersInLan] }, keptWhileUsed: true },
  }),
};
