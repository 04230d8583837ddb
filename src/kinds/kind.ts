import type { z } from "zod";
import { memo } from "../runtime/memo.ts";
import type {
  CertificateAccess,
  Check,
  Choice,
  Comparison,
  Desired,
  Endpoint,
  Inputs,
  Lookup,
  Mention,
  OneTimeKey,
  Operation,
  OutputTarget,
  OutputValues,
  Product,
  Publication,
  Reference,
  Rotation,
  SecretInput,
  Shown,
} from "./desired.ts";

/** A CEL rule of the API server over `spec` (`self`, and `oldSelf` where it is about a change). */
export interface Rule {
  rule: string;
  /** What a person reads at `kubectl apply`: names the field, the limit and the way out. */
  message: string;
}

/** Rules that are evaluated as one: `rule` holds if all `parts` do. */
export interface Joined {
  rule: string;
  parts: Rule[];
}
export type Rules = Rule | Joined;

/** A column of `kubectl get`; Ready, Reason, State and Age, with `-o wide` Id, Since and Message, are there for every kind. */
export interface Column {
  name: string;
  type: "string" | "integer" | "boolean" | "date";
  path: string;
  description: string;
  /** Shown only with `-o wide`. */
  wide?: boolean;
}

type Parents = Readonly<Record<string, string>>;

/** What a resource is called. */
export interface Names {
  /** The platform's own word, the `type` in its answers and in the targets of its requests: `ipblock`. */
  type: string;
  /** Fields of spec by their path in what is sent, or a part of it, where the platform calls them otherwise. */
  fields?: Readonly<Record<string, string>>;
  /** The longest name that it can have, where an object's own may be longer. */
  longest?: number;
}

/** Which resource is meant, and whose it is. */
export interface Identity {
  /** The id of one that is gone is given to the next: what is seen under an id may be somebody else's by now. */
  reusesIds?: boolean;
  /**
   * What identifies a resource by itself, equal for the body of its creation and for what the platform shows of it.
   * For products that keep no log of requests: recovery finds by it what an interrupted creation made.
   */
  echo?(resource: unknown): unknown;
  /** It is always there and cannot be created or deleted: it is taken over as it is, and given back. */
  permanent?: boolean;
  /** Any number of objects may use it at once. */
  shared?: boolean;
  /** It acts on all that the contract has: who shares a contract may have one only where this kind is named. */
  contractWide?: string;
  /** There can be only one in its place, which is called: `NIC`. */
  onePer?: string;
}

/** Where it is on the platform, and how it is looked at there. */
export interface Place {
  product: Product;
  /** Path of the collection that holds it, below the base address of the product. */
  collection(parents: Parents): string;
  /** How deep a list has to look for everything that `compare` reads. */
  depth: number;
  /** What is kept of an item, where that is not all of it: what the kind reads, see `readsOf`. */
  reads?(item: unknown): unknown;
  /** Roles of parents that it outlives. */
  outlives?: readonly string[];
  /** It changes by itself: looked at so often at rest, in milliseconds. */
  livelyMs?: number;
  /** Its status tells who uses it: it is looked at again when a user of it has come to rest. */
  showsUsers?: boolean;
  /** What a user of the platform needs for it, as the platform calls it; told when it says no. */
  privilege?: string;
  /** Hosts besides that of the product. */
  hosts?: readonly Endpoint[];
}

export interface Creation {
  /** Where it is posted, when it is not the collection. */
  path?(parents: Parents): string;
}

/** What the platform shows of it. */
export interface Comparing {
  /** The kind-specific part of status; `item` is undefined where spec asks for no resource. */
  facts(item: unknown, context: Pick<Inputs, "shown" | "annotations" | "refs" | "related">): Record<string, unknown>;
}

/** What stays on the platform when a resource goes: members of another kind's collection under the same parents. */
export interface Remains {
  kind: string;
  /**
   * Their ids, out of the kind's part of status as it was last written. `deleted`: Mooring has deleted the resource itself,
   * and what it deletes with it is gone.
   */
  ids(shown: Shown, deleted: boolean): string[];
  /** Whether nothing uses the one that its collection shows like this; undefined when that does not tell. */
  isUnused(item: unknown): boolean | undefined;
}

/** What is lost with it, and what has to be known before it goes. */
export interface Destruction {
  /** Whether deleting the resource loses data that nobody can bring back. */
  holdsData: boolean;
  /** For a kind that others live in: how to look inside, and what there counts as content. */
  contents?: { depth: number; list(item: unknown): string[] };
  /** It is not deleted while others use it; those are then named. */
  keptWhileUsed?: boolean;
  remains?: Remains;
}

/** What workloads get in a Secret: a key that is shown once, or a certificate that ends. */
export type SecretSource =
  | { key: OneTimeKey; certificate?: undefined }
  | { certificate: CertificateAccess; key?: undefined };

/** What workloads get to know of the resource, as the platform shows it. */
export interface OutputSource {
  values(
    item: unknown,
    claim: { id: string; parents: Parents },
    known: Pick<Inputs, "shown" | "related">,
  ): OutputValues;
  /**
   * What it shows of members of another kind's collection under the same parents: those that the resource names. They
   * are read only while spec asks for an output, and nothing waits for them.
   */
  related?: { kind: string; ids(item: unknown): string[] };
}

/** How a kind is kept on the platform, by question. Pure: paths, bodies and comparisons; never a call. */
export interface ResourceMapping {
  names: Names;
  identity: Identity;
  place: Place;
  creation: Creation;
  comparison: Comparing;
  destruction: Destruction;
  secret?: SecretSource;
  output?: OutputSource;
  desire(spec: unknown): Desired;
}

/** WHAT is managed: everything Mooring knows of one kind, in one file of this room. */
export interface Kind {
  kind: string;
  plural: string;
  /** Its objects belong to no namespace. */
  scope?: "Cluster";
  /** It decides what others may do: whoever edits the objects of a namespace may not write it, its administrators may. */
  governs?: true;
  shortNames: string[];
  /** Default limit of objects per namespace, if lower than that of other kinds. `--limit` overrides it. */
  limit?: number;
  /** The platform never charges for it. */
  free?: true;
  description: string;
  spec: z.ZodObject;
  status: z.ZodObject;
  rules: Rules[];
  /** Fields of spec that the platform cannot change once the resource exists, each with the reason. */
  immutable: Record<string, string>;
  /** Fields of spec that can only grow once the resource exists. */
  grows?: readonly string[];
  columns: Column[];
  /** Annotations of Mooring's that have an effect on objects of this kind alone. */
  annotations?: readonly string[];
  /** Of a kind that is nothing but its spec: what its status shows of it. */
  shows?(spec: unknown): Record<string, unknown>;
  /** Fields of spec and status that `kubectl scale` writes and reads. */
  scale?: { spec: string; status: string };
  /** Absent for a kind that has no resource of its own on the platform. */
  resource?: ResourceMapping;
  /** Of a kind without a resource for whose objects the operator does something. */
  task?: Task;
}

/** What is done for an object with an Account, again and again. How far it is, is in its status. */
export interface Task {
  /** As of an `Identity`. */
  contractWide?: string;
  /** The field of status that is there once it has begun: what cannot be changed later can be corrected before. */
  begun: string;
  /** What spec refers to. Throws when it cannot be read. */
  references(spec: unknown): Reference[];
  /** Hosts that it writes to. */
  hosts?: readonly Endpoint[];
}

/** A kind that has a resource on the platform. */
export type ResourceKind = Kind & { resource: ResourceMapping };

export const hasResource = (kind: Kind): kind is ResourceKind => kind.resource !== undefined;

/** Whether the operator works for its objects with an Account, and relies on what it has written into their status. */
export const usesAccount = (kind: Kind): boolean => kind.resource !== undefined || kind.task !== undefined;

/** Whether a key of this kind is a resource by itself. */
export function isSuccessive({ resource }: Pick<Kind, "resource">): boolean {
  const { key } = resource?.secret ?? {};
  return key !== undefined && "life" in key;
}

/** Whether a spec asks for a resource. */
export const isWanted = (kind: Pick<Kind, "resource">, desired: Desired, name: string): boolean =>
  !isSuccessive(kind) || desired.publication({ name }) !== undefined;

/** A mapping as its author writes it: what depends on spec stands beside the rest, with the types of the kind's own schema. */
export interface TypedMapping<Spec> {
  names: Names;
  identity?: Identity & { isMeant?(spec: Spec, item: unknown): boolean };
  place: Place & { references(spec: Spec): Reference[]; mentions?(spec: Spec): Mention[] };
  creation: Creation & {
    body(spec: Spec, inputs: Inputs): unknown;
    secrets?(spec: Spec): SecretInput[];
    lookups?(spec: Spec, inputs: Inputs): Lookup[];
    check?(spec: Spec): Check;
    choice?(spec: Spec): Choice | undefined;
    problem?(spec: Spec, inputs: Inputs): string | undefined;
    advice?(spec: Spec, inputs: Inputs): string[];
  };
  comparison: Comparing & { compare(spec: Spec, item: unknown, inputs: Inputs): Comparison };
  destruction: Destruction & {
    query?(spec: Spec): string;
    preDelete?(spec: Spec, item: unknown, inputs: Pick<Inputs, "parents" | "shown">): Operation | undefined;
  };
  secret?: SecretSource & {
    publication(spec: Spec, inputs: Pick<Inputs, "name">): Publication | undefined;
    rotation(spec: Spec): Rotation | undefined;
  };
  output?: OutputSource & { target(spec: Spec): OutputTarget | undefined };
}

/** Hides a kind's own types behind `ResourceMapping`, so that the engine handles all kinds alike. */
export function mapping<S extends z.ZodObject>(schema: S, typed: TypedMapping<z.output<S>>): ResourceMapping {
  const { identity = {}, place, creation, comparison, destruction, secret, output } = typed;
  const desire = memo((raw: object): Desired => {
    const spec = schema.parse(raw);
    return {
      isMeant: (item) => identity.isMeant?.(spec, item) ?? true,
      references: place.references(spec),
      mentions: place.mentions?.(spec) ?? [],
      body: (inputs) => creation.body(spec, inputs),
      secrets: creation.secrets?.(spec) ?? [],
      lookups: (inputs) => creation.lookups?.(spec, inputs) ?? [],
      check: creation.check?.(spec),
      choice: creation.choice?.(spec),
      problem: (inputs) => creation.problem?.(spec, inputs),
      advice: (inputs) => creation.advice?.(spec, inputs) ?? [],
      compare: (item, inputs) => comparison.compare(spec, item, inputs),
      query: destruction.query?.(spec) ?? "",
      preDelete: (item, inputs) => destruction.preDelete?.(spec, item, inputs),
      publication: (inputs) => secret?.publication(spec, inputs),
      rotation: () => secret?.rotation(spec),
      output: output?.target(spec),
    };
  });
  // What is no object is refused by the schema, in its own words.
  const refuse = (raw: unknown) => desire(Object(schema.parse(raw)));
  return {
    ...typed,
    identity,
    desire: (raw) => (typeof raw === "object" && raw !== null ? desire(raw) : refuse(raw)),
  };
}
