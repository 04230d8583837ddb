import type { Call } from "../http/exchange.ts";
import type { Progress, Row } from "../records/life.ts";
import type { Table } from "../store/documents.ts";
import type { World } from "../world.ts";
import type { Host } from "./service.ts";

/** Shortest and longest time, in simulated milliseconds. */
export type Span = readonly [low: number, high: number];

export type Operation = "create" | "update" | "delete";

/** Metadata and properties that one answer shows and no later one, such as a new key. */
export interface ShownOnce {
  metadata?: object;
  properties?: object;
}

/** One kind of resource of a managed service: everything that differs between kinds. `F` are the fields of its rows. */
export interface Managed<F> {
  host: Host;
  /** The type string of the wire. */
  type: string;
  /** The path of the collection below the host: `/zones/{zoneId}/records`. */
  path: string;
  /** The name of the id in the path of one: `recordId`. */
  param: string;
  /** The call that changes one; PUT also creates one with a given id. Absent: it cannot be changed. */
  change?: "PUT" | "PATCH";
  statuses: { create: number; change: number };
  /** How long an operation takes; absent: it is done at once. */
  span?: Span | Readonly<Partial<Record<Operation, Span>>>;
  /** The state while it is created or changed. Default: PROVISIONING. */
  working?: "PROVISIONING" | "DEPLOYING";
  /** How long a new one is invisible; absent: reads show it at once. */
  unseen?: Span;
  /** The purposes of its draws from `Chance`. Default: by host and type. */
  draws?: { id: string; time(what: Operation | "unseen"): string };
  table(world: World): Table<Row<F>>;
  /** Which rows are of this kind, where kinds share a table. */
  owns?(row: Row<F>): boolean;
  /** Selects the rows that a call can see, by region, parent or user. Throws 404 when the parent does not exist. */
  within?(world: World, call: Call): (row: Row<F>) => boolean;
  /**
   * The fields that the body of a creation or a change gives; `before` is the row that a change is about. `showOnce`
   * adds to this answer only.
   */
  given(world: World, call: Call, before: Row<F> | undefined, showOnce: (more: ShownOnce) => void): F;
  /** The values of the parameters in `path`. */
  names?(world: World, row: Row<F>): Readonly<Record<string, string>>;
  properties(row: Row<F>, world: World): object;
  /** Properties that answers show in addition to `properties`, or instead of them. */
  answered?(world: World, row: Row<F>, call: Call): object;
  /** Metadata besides stamps and URN. */
  metadata(world: World, row: Row<F>, call: Call): object;
  /** How metadata shows a failure. Default: `statusMessage`. */
  failed?(world: World, row: Row<F>): object;
  /** Further fields in `GET /_simulator/state`. */
  inspected?(world: World, row: Row<F>): object;
  filters?: Readonly<Record<string, (row: Row<F>, value: string) => boolean>>;
  /** The properties that `orderBy` can name. Absent: lists have one order. */
  orders?: Readonly<Record<string, (row: Row<F>) => unknown>>;
  /** false: lists have no pages. */
  paged?: false;
  /** A change waits for the one before it (409), and one that changes nothing is not made. */
  exclusive?: true;
  /** Called before a change is made. */
  changing?(world: World, row: Row<F>): void;
  /** The progress of something outside the API; the operation does not end before it is done. */
  progress?(world: World, row: Row<F>): Progress;
  /** The fields that change when it becomes AVAILABLE. */
  ready?: Partial<F>;
  /** The answer to a deletion shows the resource. */
  showsRemoved?: true;
  /** Throws when the row cannot be deleted. */
  checkRemoval?(world: World, row: Row<F>): void;
  /** Removes what belongs to a deleted row. Inside the transaction that deletes it. */
  gone?(world: World, row: Row<F>): void;
}

/** The path with its `{name}` segments filled in. */
export const pathOf = (path: string, names: Readonly<Record<string, string>>) =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => names[name] ?? "");

/** The path of the collection that a row is in. */
export const collectionOf = <F>(world: World, { host, path, names }: Managed<F>, row: Row<F>) =>
  `/${host.path}${pathOf(path, names?.(world, row) ?? {})}`;

/** The rows of a kind, in order of creation. */
export const rowsOf = <F>(world: World, { table, owns = () => true }: Managed<F>): Row<F>[] =>
  [...table(world).values()].filter((row) => owns(row));

/** Compares as the filters of the platform do. */
export const contains = (text: string, part: string) => text.toLowerCase().includes(part.toLowerCase());
