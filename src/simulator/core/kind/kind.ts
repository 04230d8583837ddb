import type { z } from "zod";
import type { Call } from "../../http/exchange.ts";
import type { Properties, Resource } from "../../store/resource.ts";
import type { PrivilegeFlag } from "../../users.ts";
import type { World } from "../../world.ts";

/** Shortest and longest time of an operation, in simulated seconds. */
export type Span = readonly [number, number];

/** A write being checked: what the body sets and what the resource will be. Hooks complete `next` and `refs`. */
export interface Draft {
  readonly world: World;
  /** Where in the body the resource stands, e.g. `(root).entities.nics.items[0]`. */
  readonly path: string;
  /** Key of the resource, also before it exists. */
  readonly key: string;
  readonly write: "create" | "put" | "patch";
  readonly previous: Resource | null;
  readonly parent: Resource | null;
  /** The resource that it is created from or with: the server of an inline volume, the volume of a snapshot. */
  readonly holder: Resource | null;
  /** The properties that the body names, without null. */
  readonly given: Properties;
  readonly inline: InlineChildren;
  next: Record<string, unknown>;
  refs: string[];
  /** Creates a further resource in the same request. */
  createRelated(type: string, parent: Pick<Resource, "key">, id: string, properties: Properties): Resource;
  /** Deletes another resource when the request ends DONE. */
  removeRelated(resource: Resource): void;
  /** Adds an error about one property. All errors of a body are reported together. */
  fault(property: string, message: string): void;
}

/** The bodies given under `entities.<collection>.items`. */
export type InlineChildren = Readonly<Record<string, readonly unknown[]>>;

/** Another resource's collection seen from here: the volumes of a server, the NICs of a LAN. */
export interface Link {
  collection: string;
  type: string;
  param: string;
  /** Allowed methods, as in `Kind.verbs`: G, P and U on the collection, G and D on the item. */
  verbs: { collection: string; item: string };
  /** Default: that of the members' kind. */
  paged?: boolean;
  /** A member may have many holders, each of which refers to it; otherwise the member refers to its only one. */
  shared?: boolean;
  /** POST with properties instead of an id creates the member beside the holder and attaches it. */
  creates?: boolean;
  /** Returns the resource that refers to the other, as it is once attached. Throws a refusal. */
  attach?(world: World, holder: Resource, member: Resource): Pick<Resource, "properties" | "refs">;
  /** Returns the resource that refers to the other, as it is once detached. Throws a refusal. */
  detach?(world: World, holder: Resource, member: Resource): Pick<Resource, "properties" | "refs">;
}

/**
 * One type of resource: everything the generic handlers need to know about it. A new type of the platform is one
 * more entry in the table, not one more handler.
 */
export interface Kind {
  /** Names the kind in the table and in the store. */
  type: string;
  /** The type string of the wire where it is another one, because several kinds share it. */
  wireType?: string;
  collection: string;
  /** Name of the id in path templates. */
  param: string;
  /** Types it can be a child of; empty string for the top level. */
  parents: readonly string[];
  /** Allowed methods, a letter each: G=GET P=POST U=PUT A=PATCH D=DELETE. */
  verbs: { collection: string; item: string };
  /** Has offset and limit. */
  paged: boolean;
  /** The properties a caller may set. Unknown and read-only ones are dropped. */
  schema: z.ZodObject;
  /** Settable at creation only. */
  createOnly?: readonly string[];
  /** Taken at creation and never stored. */
  writeOnly?: readonly string[];
  /** Shown by every read instead of a stored value. */
  readsAs?: Properties;
  /** false: the routes are written by hand. */
  routed?: boolean;
  /** false: not shown among the entities of its parent (labels). */
  entity?: boolean;
  defaults?: Properties;
  /** Kept by PUT when its body leaves them out, also where a creation needs them. */
  keptOnPut?: readonly string[];
  /** Properties without a default that an empty text clears; in others an empty text counts as absent. */
  clearedByEmptyText?: readonly string[];
  /** Absent: writes are done at once, without a request and without states. */
  spans?: { create: Span; update: Span; delete: Span };
  /** Reads show it at once; others are visible after a while. */
  visibleAtOnce?: true;
  /** The names of its states, where they are not BUSY and AVAILABLE. */
  states?: { create: string; update: string; delete: string; idle: string };
  links?: readonly Link[];
  /** Default: a UUID. */
  newId?(world: World, parent: Resource | null, given: Properties): string;
  /** Checks rules between properties and other resources and fills in what the platform decides. */
  shape?(draft: Draft): void;
  /** Checked after the inline children of a creation exist. */
  assembled?(world: World, resource: Resource, path: string): void;
  /** Merged into the properties when the creation ends DONE. */
  settled?: Properties;
  /** The privilege that a user needs to create one. */
  privilege?: PrivilegeFlag;
  /** POST works without a body, too. */
  bodyOptional?: boolean;
  /** Removes data outside the tree that belongs to a deleted resource. For kinds without spans. */
  deleted?(world: World, resource: Resource): void;
  /** Throws when the resource cannot be changed or deleted in its present state. */
  guard?(world: World, resource: Resource, write: "update" | "delete"): void;
  /** Further resources that are deleted with this one. */
  alsoDeleted?(world: World, resource: Resource, call: Call): Resource[];
  /** Properties as reads show them. */
  view?(world: World, resource: Resource, origin: string): Properties;
}
