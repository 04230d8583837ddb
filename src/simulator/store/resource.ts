import { z } from "zod";
import { showing, stamps } from "./shown.ts";

export type Properties = Readonly<Record<string, unknown>>;

export const resourceSchema = z.object({
  /** The path below the API's base, e.g. `datacenters/<id>/servers/<id>`: unique, and it names all parents. */
  key: z.string(),
  id: z.string(),
  /** `Kind.type`: the type string of the wire, unless several kinds share that. */
  type: z.string(),
  collection: z.string(),
  /** Key of the parent; empty at the top. */
  parent: z.string(),
  /** Keys of resources that this one refers to and that are not its parents: a volume's server, a NIC's LAN. */
  refs: z.array(z.string()).readonly(),
  /** null: the type has no states (labels). */
  state: z.enum(["AVAILABLE", "BUSY"]).nullable(),
  /** The name of the state that reads show, where the type has its own names. */
  shownState: z.string().optional(),
  properties: z.record(z.string(), z.unknown()).readonly(),
  /** Counts up with every change; the etag follows from it. */
  revision: z.number(),
  ...stamps,
  ...showing,
});

/** One thing that exists on the platform. `createdBy` and `modifiedBy` are user ids. */
export type Resource = Readonly<z.infer<typeof resourceSchema>>;

/** A resource without states: it is complete as soon as it is stored. */
export function plainResource(
  place: Pick<Resource, "key" | "id" | "type" | "collection" | "parent">,
  properties: Properties,
  at: number,
  userId: string,
): Resource {
  return {
    ...place,
    refs: [],
    state: null,
    properties,
    revision: 0,
    createdAt: at,
    createdBy: userId,
    modifiedAt: at,
    modifiedBy: userId,
    visibleAt: at,
  };
}

export const textIn = (properties: Properties, name: string): string | undefined => {
  const value = properties[name];
  return typeof value === "string" ? value : undefined;
};

export const numberIn = (properties: Properties, name: string): number | undefined => {
  const value = properties[name];
  return typeof value === "number" ? value : undefined;
};

export const textsIn = (properties: Properties, name: string): string[] => {
  const value = properties[name];
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
};

export const basePath = "/cloudapi/v6";

/** The absolute URL of a resource or collection by its key. */
export const hrefOf = (origin: string, key: string) => `${origin}${basePath}/${key}`;

/** The key of the datacenter that something lies in: `datacenters/<id>`. */
export const datacenterOf = (key: string): string => key.split("/", 2).join("/");
