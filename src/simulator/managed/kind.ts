import type { Call } from "../http/exchange.ts";
import type { Table } from "../store/documents.ts";
import type { World } from "../world.ts";
import type { Row } from "./life.ts";
import type { Host } from "./service.ts";

/** One kind of thing that a product manages: everything about it that is not the same for all of them. */
export interface Managed<F> {
  host: Host;
  /** The type string of the wire. */
  type: string;
  /** Of the collection: `/zones/{zoneId}/records`. */
  path: string;
  /** What the path calls the id of one: `recordId`. */
  param: string;
  /** The call that changes one; PUT also makes one of a given id. */
  change: "PUT" | "PATCH";
  /** How accepted writes are answered. */
  statuses: { create: number; change: number };
  /** Simulated milliseconds that a write takes; absent: it is done at once. */
  span?: readonly [low: number, high: number];
  table(world: World): Table<Row<F>>;
  /** The part of the table that the path of a call names. Throws 404 when what it is to lie in is not there. */
  within?(world: World, call: Call): (row: Row<F>) => boolean;
  /** What the body of a creation or a change says; at a change `before` is what was there. */
  given(world: World, call: Call, before: Row<F> | undefined): F;
  properties(row: Row<F>): object;
  /** Besides who made it when; names what the path of the collection does. */
  metadata(world: World, row: Row<F>): Readonly<Record<string, unknown>>;
  /** What only the answer to its creation tells of the properties. */
  toldOnce?(row: Row<F>): object;
  filters?: Readonly<Record<string, (row: Row<F>, value: string) => boolean>>;
  /** A deletion that is not possible throws. */
  checkRemoval?(world: World, row: Row<F>): void;
  /** What goes with it. Inside the transaction of its end. */
  gone?(world: World, row: Row<F>): void;
}

/** The path with its `{name}` segments filled in. */
export const pathOf = (path: string, names: Readonly<Record<string, unknown>>) =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(names[name] ?? ""));

/** Compares as the filters of the platform do. */
export const contains = (text: string, part: string) => text.toLowerCase().includes(part.toLowerCase());
