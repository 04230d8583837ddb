import type { Base } from "./base.ts";

/** What is wrong, the merge patch of spec that makes it so, and what the refusal says: the field, the limit, the way out. */
type Row = [title: string, patch: unknown, ...says: string[]];

export interface BadManifest {
  title: string;
  base: Base;
  patch: unknown;
  says: string[];
}

export const bad = (base: Base, what: string, rows: Row[]): BadManifest[] =>
  rows.map(([title, patch, ...says]) => ({ title: `${what}: ${title}`, base, patch, says }));

export const long = (length: number) => "x".repeat(length);

/** The id of a resource on the platform. */
export const someId = "72e73b81-8551-4e74-b398-fc63b39994af";
