import { z } from "zod";
import { listed, listedField } from "../fields/column.ts";
import { known, patch, wantedName } from "../fields/compare.ts";
import {
  coreItem,
  irreplaceable,
  location,
  managed,
  managedRules,
  platformName,
  required,
  whole,
} from "../fields/fields.ts";
import { locationChoice } from "../fields/location.ts";
import { readsOf } from "../fields/reads.ts";
import { output, outputField } from "../fields/secrets/output.ts";
import { type Kind, mapping } from "../kind.ts";

const spec = z.object({
  ...managed,
  ...irreplaceable,
  name: platformName("IP block"),
  location: location().optional().describe("Location in which the addresses can be used. Required; cannot be changed."),
  size: whole(1, 10_000).optional().describe("Number of addresses to reserve. Required; cannot be changed."),
  ...outputField,
});

const text = (what: string) => z.string().optional().describe(what);
const status = z.object({
  location: text("Location in which the addresses can be used."),
  size: z.int().optional().describe("Number of addresses."),
  ips: z.array(z.string().describe("An address.")).optional().describe("Reserved addresses."),
  addresses: listedField("Reserved addresses"),
  consumers: z
    .array(
      z.object({
        ip: z.string().describe("The address."),
        nicId: text("Platform id of the NIC that uses it."),
        serverId: text("Platform id of its server."),
        serverName: text("Name of its server."),
        datacenterId: text("Platform id of its datacenter."),
      }),
    )
    .optional()
    .describe("Addresses in use, with their users."),
});

const wire = coreItem({
  name: z.string().nullish(),
  location: z.string().nullish(),
  size: z.number().nullish(),
  ips: z.array(z.string()).nullish(),
  ipConsumers: z
    .array(
      z.object({
        ip: z.string(),
        nicId: z.string().nullish(),
        serverId: z.string().nullish(),
        serverName: z.string().nullish(),
        datacenterId: z.string().nullish(),
      }),
    )
    .nullish(),
});

const collection = "/ipblocks";
/** Maximum number of addresses with a variable of their own, because the environment of a process is limited. */
const MOST_NUMBERED = 32;

export const ipBlock: Kind = {
  kind: "IPBlock",
  plural: "ipblocks",
  shortNames: ["ipb"],
  description: "Reserved public addresses in one location. They outlive the servers that use them.",
  spec,
  status,
  rules: [...managedRules, required("location"), required("size")],
  immutable: { location: "an IPBlock cannot move", size: "the size of an IPBlock is fixed at creation" },
  comparable: ["location", "size"],
  columns: [
    {
      name: "Location",
      type: "string",
      path: ".status.location",
      description: "Location in which the addresses can be used",
    },
    { name: "Ips", type: "string", path: ".status.addresses", description: "The reserved addresses", wide: true },
  ],
  resource: mapping(spec, {
    names: { type: "ipblock" },
    place: {
      product: "core",
      collection: () => collection,
      depth: 1,
      reads: readsOf(wire),
      showsUsers: true,
      labelled: true,
      references: () => [],
    },
    creation: {
      choice: ({ location }) => locationChoice(location),
      body: (spec, { name }) => ({
        properties: { name: spec.name ?? name, location: spec.location, size: spec.size },
      }),
    },
    comparison: {
      compare(spec, item, inputs) {
        const { id, properties } = wire.parse(item);
        const named = { name: [wantedName(spec, inputs), properties.name] } as const;
        return patch("", `${collection}/${id}`, named, {
          location: [spec.location, properties.location],
          size: [spec.size, properties.size ?? properties.ips?.length],
        });
      },
      facts(item) {
        const { location, size, ips, ipConsumers } = wire.parse(item).properties;
        return known({
          location,
          size: size ?? ips?.length,
          ips,
          addresses: listed(ips),
          consumers: ipConsumers?.map(known),
        });
      },
    },
    destruction: {
      // The same addresses cannot be reserved again.
      holdsData: true,
      keptWhileUsed: true,
    },
    output: output((item, { id }) => {
      const { location, ips } = wire.parse(item).properties;
      const numbered = (ips ?? []).slice(0, MOST_NUMBERED).map((ip, nth) => [`IP_${nth}`, ip]);
      return { ID: id, LOCATION: location, IPS: ips, ...Object.fromEntries(numbered) };
    }),
  }),
};
