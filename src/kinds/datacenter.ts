import { z } from "zod";
import { location, managed, platformName } from "./fields.ts";
import { changes, differences, type Kind, mapping } from "./kind.ts";

const spec = z.object({
  ...managed,
  name: platformName("datacenter"),
  location: location().describe("Where it stands, <country>/<site>, for example de/txl. Cannot be changed."),
  description: z.string().max(1024).optional().describe("Free text shown on the platform."),
});

const status = z.object({
  location: z.string().optional().describe("Where it stands."),
  version: z.int().optional().describe("Counts the changes of the datacenter."),
});

const wire = z.object({
  id: z.string(),
  properties: z.object({
    name: z.string().nullish(),
    description: z.string().nullish(),
    location: z.string(),
    version: z.int().nullish(),
  }),
});

const collection = "/datacenters";

export const datacenter: Kind = {
  kind: "Datacenter",
  plural: "datacenters",
  shortNames: ["dc"],
  description: "A virtual datacenter: the frame for servers, volumes and networks of one location.",
  spec,
  status,
  rules: [],
  immutable: { location: "a datacenter cannot move: create a new one at the other location" },
  columns: [{ name: "Location", type: "string", path: ".spec.location", description: "Where it stands" }],
  resource: mapping(spec, {
    product: "core",
    noun: "datacenter",
    collection: () => collection,
    depth: 1,
    references: () => [],
    body: (spec, { name }) => ({
      properties: {
        name: spec.name ?? name,
        location: spec.location,
        ...(spec.description !== undefined && { description: spec.description }),
      },
    }),
    compare(spec, item, { name }) {
      const { id, properties } = wire.parse(item);
      const changeable = {
        name: [spec.name ?? name, properties.name],
        description: [spec.description, properties.description],
      } as const;
      const body = changes(changeable);
      return {
        drift: differences({ ...changeable, location: [spec.location, properties.location] }),
        ...(body && { next: { action: "update", method: "PATCH", path: `${collection}/${id}`, body } }),
      };
    },
    facts(item) {
      const { location, version } = wire.parse(item).properties;
      return { location, ...(version != null && { version }) };
    },
  }),
};
