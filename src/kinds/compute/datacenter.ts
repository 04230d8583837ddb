import { z } from "zod";
import type { Content } from "../contents.ts";
import { patch, wantedName } from "../fields/compare.ts";
import { coreItem, location, managed, managedRules, platformName, prose, required } from "../fields/fields.ts";
import { locationChoice } from "../fields/location.ts";
import { readsOf } from "../fields/reads.ts";
import { type Kind, mapping } from "../kind.ts";
import { clustersInDatacenter } from "../streaming/kafka-connection.ts";

const spec = z.object({
  ...managed,
  name: platformName("datacenter"),
  location: location()
    .optional()
    .describe("Location <country>/<site>, for example de/txl. Required; cannot be changed."),
  description: prose(1024).optional().describe("Free text shown on the platform."),
});

const status = z.object({
  location: z.string().optional().describe("Location."),
  version: z.int().optional().describe("Version of the datacenter on the platform."),
});

const wire = coreItem({
  name: z.string().nullish(),
  description: z.string().nullish(),
  location: z.string(),
  version: z.int().nullish(),
});

const collection = "/datacenters";

const children = z.object({
  entities: z.record(
    z.string(),
    z.looseObject({
      // A shallow answer omits the items. That does not mean that there are none.
      items: z.array(
        z.looseObject({
          id: z.string(),
          type: z.string().nullish(),
          properties: z.looseObject({ name: z.string().nullish() }).nullish(),
        }),
      ),
    }),
  ),
});

/**
 * Entities that hold nothing of their own: whatever uses a LAN is also part of a server, a gateway or a load balancer,
 * or found elsewhere.
 */
const EMPTY: readonly string[] = ["lans", "securitygroups"];

/** The entities that are deleted together with the datacenter. */
function entitiesIn(item: unknown): Content[] {
  return Object.entries(children.parse(item).entities).flatMap(([name, { items }]) =>
    items.map(({ id, type, properties }) => {
      return { id, title: `${type ?? name} ${properties?.name ?? id}`, isEmpty: EMPTY.includes(name) };
    }),
  );
}

/** The same from a list of one kind, which may show more than the datacenter's own answer. */
const listed = (name: string) => (list: unknown) => entitiesIn({ entities: { [name]: list } });

export const datacenter: Kind = {
  kind: "Datacenter",
  plural: "datacenters",
  shortNames: ["dc"],
  free: true,
  description: "A virtual datacenter: servers, volumes and networks in one location.",
  spec,
  status,
  rules: [...managedRules, required("location")],
  immutable: { location: "a datacenter cannot move" },
  comparable: ["location"],
  columns: [{ name: "Location", type: "string", path: ".status.location", description: "Location" }],
  resource: mapping(spec, {
    names: { type: "datacenter" },
    place: {
      product: "core",
      collection: () => collection,
      depth: 1,
      reads: readsOf(wire),
      references: () => [],
      labelled: true,
    },
    creation: {
      choice: ({ location }) => locationChoice(location),
      body: (spec, { name }) => ({
        properties: {
          name: spec.name ?? name,
          location: spec.location,
          ...(spec.description !== undefined && { description: spec.description }),
        },
      }),
    },
    comparison: {
      compare(spec, item, inputs) {
        const { id, properties } = wire.parse(item);
        const changeable = {
          name: [wantedName(spec, inputs), properties.name],
          description: [spec.description, properties.description],
        } as const;
        return patch("", `${collection}/${id}`, changeable, { location: [spec.location, properties.location] });
      },
      facts(item) {
        const { location, version } = wire.parse(item).properties;
        return { location, ...(version != null && { version }) };
      },
    },
    destruction: {
      contents: {
        reads: {
          "?depth=2": entitiesIn,
          "/servers?depth=1": listed("servers"),
          "/volumes?depth=1": listed("volumes"),
        },
        elsewhere: [clustersInDatacenter],
        nested: true,
      },
      holdsData: false,
    },
  }),
};
