import type { Base } from "./base.ts";

/** What is wrong, the merge patch of spec that makes it so, and what the refusal says: the field, the limit, the way out. */
type Row = [title: string, patch: unknown, ...says: string[]];

export interface BadManifest {
  title: string;
  base: Base;
  patch: unknown;
  says: string[];
  /** What the object is called, where that is what is wrong. */
  name?: string;
}

export const bad = (base: Base, what: string, rows: Row[]): BadManifest[] =>
  rows.map(([title, patch, ...says]) => ({ title: `${what}: ${title}`, base, patch, says }));

/** What is allowed, and the merge patch of spec that says so. */
export type GoodRow = [title: string, patch: unknown];

export const good = (base: Base, what: string, rows: GoodRow[]) =>
  rows.map(([title, patch]) => ({ title: `${what}: ${title}`, base, patch }));

/** One row for each value of a field. */
export const each = (field: string, values: readonly unknown[]): GoodRow[] =>
  values.map((value) => [`${field} ${value}`, { [field]: value }]);

export const long = (length: number) => "x".repeat(length);

/** The id of a resource on the platform. */
export const someId = "72e73b81-8551-4e74-b398-fc63b39994af";
