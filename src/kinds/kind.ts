import type { z } from "zod";
import { memo } from "../runtime/memo.ts";
import type { ContentsSource } from "./contents.ts";
import type {
  CertificateAccess,
  Check,
  Choice,
  Comparison,
  Desired,
  Endpoint,
  FactsContext,
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
import type { Part, Remains } from "./parts.ts";

/** A CEL rule over `spec`: `self`, and `oldSelf` if the rule is about a change. */
export interface Rule {
  rule: string;
  /** The message that a user sees at `kubectl apply`: the field, the limit and the way out. */
  message: string;
  /** A CEL expression: the end of that message. */
  more?: string;
  /** The field that the rule requires, or several of which it requires one, unless the resource exists already. */
  requires?: string | readonly string[];
}

/** Rules that are evaluated as one: `rule` holds if all `parts` do. */
export interface Joined {
  rule: string;
  parts: Rule[];
}
export type Rules = Rule | Joined;

/**
 * A column of `kubectl get`. Every kind also has Ready, Reason, State and Age, and with `-o wide` Id, Since and
 * Message.
 */
export interface Column {
  name: string;
  type: "string" | "integer" | "boolean" | "date";
  path: string;
  description: string;
  /** Shown only with `-o wide`. */
  wide?: boolean;
}

type Parents = Readonly<Record<string, string>>;

export interface Names {
  /** The `type` of the resource in the platform's answers and in the targets of its requests: `ipblock`. */
  type: string;
  /** Fields of spec that have other names on the platform, by their path, or a part of it, in the request body. */
  fields?: Readonly<Record<string, string>>;
  /** The maximum length of the platform name, if an object's name may be longer. */
  longest?: number;
}

/** How a resource is identified, and how it may be owned. */
export interface Identity {
  /** The platform reuses the ids of deleted resources: the resource under an id may belong to somebody else. */
  reusesIds?: boolean;
  /**
   * The identifying part of a resource, equal for the body of its creation and for the platform's view of it. Recovery
   * uses it to find the result of an interrupted creation, for products without a request log.
   */
  echo?(resource: unknown): unknown;
  /** The resource always exists and cannot be created or deleted. It is adopted as it is, and released again. */
  permanent?: boolean;
  /** Any number of objects may use the resource at once. */
  shared?: boolean;
  /** The resource affects the whole contract. A ClusterAccount must list the object's kind and the kind named here. */
  contractWide?: string;
  /** Only one resource can exist per parent. The noun for the parent in messages: `NIC`. */
  onePer?: string;
}

/** Where the resource is on the platform, and how it is read. */
export interface Place {
  product: Product;
  /** Path of the resource's collection, below the base address of the product. */
  collection(parents: Parents): string;
  /** The list depth that `compare` needs. */
  depth: number;
  /** Reduces an item to the fields that the kind reads, see `readsOf`. Absent: the item is kept as it is. */
  reads?(item: unknown): unknown;
  /** Roles of the parents whose deletion does not delete the resource. */
  outlives?: readonly string[];
  /** Resources of other kinds that are created and deleted with it. They are owned with it. */
  parts?(spec: object, shown: Shown): Part[];
  /** Resync interval in milliseconds, for a resource that changes without a write of ours. */
  livelyMs?: number;
  /** Its status lists its users, so it is reconciled again after one of them has settled. */
  showsUsers?: boolean;
  /** The platform privilege that the user needs; named in the message when the platform refuses access. */
  privilege?: string;
  /** Hosts that objects of this kind need besides the product's. */
  hosts?: readonly Endpoint[];
  /** The operator labels what it creates with the name of the cluster. What is in a labelled resource needs no label of its own. */
  labelled?: true;
}

export interface Creation {
  /** Path of the creation, if it is not the collection. */
  path?(parents: Parents): string;
}

export interface Comparing {
  /** The kind's own status fields; `item` is undefined if spec asks for no resource. */
  facts(item: unknown, context: FactsContext): Record<string, unknown>;
  /** When these facts change although the resource does not, on the platform's clock in milliseconds. */
  changesAt?(facts: Shown): number | undefined;
}

/** The losses of a deletion, and the checks before it. */
export interface Destruction {
  /** Whether the deletion loses data that cannot be restored. */
  holdsData: boolean;
  /** For a kind that others are in, or need: it is not deleted while they do. */
  contents?: ContentsSource;
  /** The resource is not deleted while others use it, which are not deleted with it; the message names them. */
  keptWhileUsed?: boolean;
  remains?: Remains;
}

/** The Secret for workloads: a key that is shown once, or a certificate that expires. */
export type SecretSource =
  | { key: OneTimeKey; certificate?: undefined }
  | { certificate: CertificateAccess; key?: undefined };

/** The output for workloads, from the resource as the platform shows it. */
export interface OutputSource {
  values(
    item: unknown,
    claim: { id: string; parents: Parents },
    known: Pick<Inputs, "shown" | "related">,
  ): OutputValues;
  /**
   * Members of another kind's collection under the same parents that the output shows. They are read only if spec asks
   * for an output, and no step waits for them.
   */
  related?: { kind: string; ids(item: unknown): string[] };
}

/** How a kind maps to the platform. Pure: paths, bodies and comparisons, never a call. */
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

/** Everything that Mooring knows about one kind. */
export interface Kind {
  kind: string;
  plural: string;
  /** Objects of this kind are cluster-scoped. */
  scope?: "Cluster";
  /** The kind controls access: administrators of a namespace may write it, editors may not. */
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
  /** Fields that the creation of this resource needs, besides those that rules require of all. */
  needs?(spec: object): readonly string[];
  /** Immutable fields of spec, each with the reason. */
  immutable: Record<string, string>;
  /** Immutable fields that `compare` compares. One that spec has never stated may be set to what is on the platform. */
  comparable?: readonly string[];
  /** Immutable fields that are used at the creation only. The platform does not show them. */
  creationOnly?: readonly string[];
  /** Fields, immutable or directly inside of immutable ones, whose values are the same in upper and lower case. */
  ignoresCase?: readonly string[];
  /** Fields of spec that can only be increased once the resource exists. */
  grows?: readonly string[];
  columns: Column[];
  /** Annotations that only this kind has. */
  annotations?: readonly string[];
  /** For a kind without resource and task: the status fields, made from spec. */
  shows?(spec: unknown): Record<string, unknown>;
  /** Fields of spec and status that `kubectl scale` writes and reads. */
  scale?: { spec: string; status: string };
  /** Absent for a kind without a resource on the platform. */
  resource?: ResourceMapping;
  /** For a kind without a resource: the work that the operator does for its objects. */
  task?: Task;
}

/** Periodic work for an object, with an Account. Its progress is in status. */
export interface Task {
  /** See `Identity`. */
  contractWide?: string;
  /** The status field that exists once the work has begun. Until then, immutable fields may still change. */
  begun: string;
  /** The references in spec. Throws if spec cannot be parsed. */
  references(spec: unknown): Reference[];
  /** Hosts that the task writes to. */
  hosts?: readonly Endpoint[];
}

/** A kind with a resource on the platform. */
export type ResourceKind = Kind & { resource: ResourceMapping };

export const hasResource = (kind: Kind): kind is ResourceKind => kind.resource !== undefined;

/** Whether objects of this kind use an Account. Then their status must be trusted, and is signed. */
export const usesAccount = (kind: Kind): boolean => kind.resource !== undefined || kind.task !== undefined;

/** Whether the resource of this kind is itself a key: every new key is a new resource. See `KeyAsResource`. */
export function isSuccessive({ resource }: Pick<Kind, "resource">): boolean {
  const { key } = resource?.secret ?? {};
  return key !== undefined && "life" in key;
}

/** Whether a spec asks for a resource. */
export const isWanted = (kind: Pick<Kind, "resource">, desired: Desired, name: string): boolean =>
  !isSuccessive(kind) || desired.publication({ name }) !== undefined;

/** A mapping as its author writes it: functions of spec have the types of the kind's own schema. */
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
    users?(spec: Spec, item: unknown, inputs: Pick<Inputs, "shown" | "marks">): string[];
  };
  secret?: SecretSource & {
    publication(spec: Spec, inputs: Pick<Inputs, "name">): Publication | undefined;
    rotation(spec: Spec): Rotation | undefined;
  };
  output?: OutputSource & { target(spec: Spec): OutputTarget | undefined };
}

/** Hides the types of a kind behind `ResourceMapping`, so that the engine handles all kinds alike. */
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
      users: (item, inputs) => destruction.users?.(spec, item, inputs) ?? [],
      publication: (inputs) => secret?.publication(spec, inputs),
      rotation: () => secret?.rotation(spec),
      output: output?.target(spec),
    };
  });
  // The memo needs an object as its key. For any other spec the schema throws, with its own message.
  const refuse = (raw: unknown) => desire(Object(schema.parse(raw)));
  return {
    ...typed,
    identity,
    desire: (raw) => (typeof raw === "object" && raw !== null ? desire(raw) : refuse(raw)),
  };
}
