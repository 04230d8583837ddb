import type { z } from "zod";

/** A CEL rule of the API server over `spec` (`self`, and `oldSelf` where it is about a change). */
export interface Rule {
  rule: string;
  /** What a person reads at `kubectl apply`: names the field, the limit and the way out. */
  message: string;
}

/** A column of `kubectl get`; Ready, State, Id and Age are there for every kind. */
export interface Column {
  name: string;
  type: "string" | "integer" | "date";
  path: string;
  description: string;
  /** Shown only with `-o wide`. */
  wide?: boolean;
}

/** The APIs of the platform; each has its own base address and its own ways. */
export type Product = "core";

/** A field that points to a parent: by the name of an object in the same namespace, or by the platform's id. */
export interface Reference {
  /** The role the parent plays, the key of its id in `Inputs.parents`: `datacenter`. */
  role: string;
  /** The kind of the referenced object. */
  kind: string;
  /** The field to name in messages: `datacenterRef`. */
  field: string;
  target: { name: string } | { id: string };
}

/** A value that creation needs out of a Secret of the same namespace. */
export interface SecretInput {
  field: string;
  name: string;
  key: string;
}

/** Everything outside `spec` that a body is made of. */
export interface Inputs {
  /** `metadata.name`: the default of every platform name. */
  name: string;
  /** The resource is only observed: what spec does not say is not wanted either. */
  observed?: boolean;
  /** Ids of the parents by role. */
  parents: Readonly<Record<string, string>>;
  /** Values of the Secrets by field. */
  secrets: Readonly<Record<string, string>>;
}

/** One field whose value on the platform is not the wanted one. */
export interface Drift {
  field: string;
  wanted: string;
  found: string;
}

/** One write that brings a resource nearer to its spec. */
export interface Operation {
  /** What a person calls it: `update`, `start`, `stop`. */
  action: string;
  method: "POST" | "PUT" | "PATCH";
  /** Path below the base address of the product. */
  path: string;
  body?: unknown;
}

/** What stands between a resource and its spec. */
export interface Comparison {
  drift: Drift[];
  /** The next write; absent when nothing that the platform can change differs. */
  next?: Operation;
}

/** One object's spec, read and checked by its kind. */
export interface Desired {
  references: Reference[];
  secrets: SecretInput[];
  /** The body that creates the resource. */
  body(inputs: Inputs): unknown;
  /** How far the resource, as a collection shows it, is from the spec. */
  compare(item: unknown, inputs: Inputs): Comparison;
}

/** How a kind is kept on the platform. Pure: paths, bodies and comparisons; never a call. */
export interface ResourceMapping {
  product: Product;
  /** The platform's word for one: `server`. */
  noun: string;
  /** Path of the collection that holds it, below the base address of the product. */
  collection(parents: Readonly<Record<string, string>>): string;
  /** How deep a list has to look for everything that `compare` reads. */
  depth: number;
  /** Added to the path when the resource is deleted: `?deleteVolumes=true`. */
  deleteQuery?: string;
  /** For a kind that others live in: how to look inside, and what there counts as content. */
  contents?: { depth: number; list(item: unknown): string[] };
  /** Whether deleting the resource loses data that nobody can bring back. */
  holdsData: boolean;
  /** The kind-specific part of status. */
  facts(item: unknown): Record<string, unknown>;
  desire(spec: unknown): Desired;
}

/** WHAT is managed: everything Mooring knows of one kind, in one file of this room. */
export interface Kind {
  kind: string;
  plural: string;
  shortNames: string[];
  description: string;
  spec: z.ZodObject;
  status: z.ZodObject;
  rules: Rule[];
  /** Fields of spec that the platform cannot change, with what a person can do instead. */
  immutable: Record<string, string>;
  columns: Column[];
  /** Absent for a kind that has no resource of its own on the platform. */
  resource?: ResourceMapping;
}

/** A mapping as its author writes it: with the types of the kind's own schema. */
export interface TypedMapping<Spec> extends Omit<ResourceMapping, "desire"> {
  references(spec: Spec): Reference[];
  secrets?(spec: Spec): SecretInput[];
  body(spec: Spec, inputs: Inputs): unknown;
  compare(spec: Spec, item: unknown, inputs: Inputs): Comparison;
}

/** Hides a kind's own types behind `ResourceMapping`, so that the engine handles all kinds alike. */
export function mapping<S extends z.ZodObject>(schema: S, typed: TypedMapping<z.output<S>>): ResourceMapping {
  const { references, secrets, body, compare, ...rest } = typed;
  return {
    ...rest,
    desire(raw) {
      const spec = schema.parse(raw);
      return {
        references: references(spec),
        secrets: secrets?.(spec) ?? [],
        body: (inputs) => body(spec, inputs),
        compare: (item, inputs) => compare(spec, item, inputs),
      };
    },
  };
}

/** Collects what differs between wanted values and found ones. An undefined wanted value is not compared. */
export function differences(pairs: Record<string, readonly [wanted: unknown, found: unknown]>): Drift[] {
  const drift: Drift[] = [];
  for (const [field, [wanted, found]] of Object.entries(pairs)) {
    if (wanted === undefined || same(wanted, found)) continue;
    drift.push({ field, wanted: show(wanted), found: show(found) });
  }
  return drift;
}

/** The wanted values among `pairs` that differ, ready to be sent as a PATCH body; undefined when there are none. */
export function changes(
  pairs: Record<string, readonly [wanted: unknown, found: unknown]>,
): Record<string, unknown> | undefined {
  const changed = Object.entries(pairs).filter(([, [wanted, found]]) => wanted !== undefined && !same(wanted, found));
  if (changed.length === 0) return undefined;
  return Object.fromEntries(changed.map(([field, [wanted]]) => [field, wanted]));
}

/** Equal as the platform means it: what is absent, null and empty says the same. */
function same(wanted: unknown, found: unknown): boolean {
  return JSON.stringify(blank(wanted)) === JSON.stringify(blank(found));
}

function blank(value: unknown): unknown {
  if (value === null || value === undefined || value === "") return null;
  return Array.isArray(value) && value.length === 0 ? null : value;
}

function show(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
