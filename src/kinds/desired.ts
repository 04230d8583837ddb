/** The APIs of the platform. Each has its own base address and conventions. */
export type Product = "core" | "auth" | "autoscaling" | "monitoring" | "logging" | "streaming";

/** Other hosts of the platform, which workloads or checks need. */
export type Endpoint = "inference" | "objectStorage";

/** The kind's own fields of an object's status. */
export type Shown = Readonly<Record<string, unknown>>;

/** Another object by name; in the same namespace if no namespace is given. */
export interface ObjectRef {
  name: string;
  namespace?: string | undefined;
}

/** A field that points to another object: by its name, or by the platform's id. */
export interface Reference {
  /** The role of the referenced object, and the key of its id in `Inputs`: `datacenter`. */
  role: string;
  /** The kind of the referenced object; empty if Mooring has no kind for it. */
  kind: string;
  /** The field to name in messages: `datacenterRef`. */
  field: string;
  /** An object by name; or the platform's id of a resource, or of a part of one. */
  target: ObjectRef | { id: string; part?: Mention["part"] };
  /**
   * `place` (default): the resource lives inside the referenced one; its id is kept in status, and deletion uses that
   * id. `use`: needed while the resource exists, and resolved at every reconcile. `seed`: needed only at creation. A
   * resource that others live in or use is not deleted while those exist.
   */
  bond?: "place" | "use" | "seed";
  /**
   * The part of the referenced object that is meant, if not its resource: the noun for messages, its id in the status,
   * and the names of all such parts.
   */
  part?: { what: string; of(status: Shown): string | undefined; all?(status: Shown): string[] };
}

/**
 * Something of the contract that spec names by its platform id or name without a reference. On a shared contract the
 * engine checks who owns it: it must belong to an object of the namespace, or be available to everybody.
 */
export interface Mention {
  /** The field to name in messages: `bootVolume.image`. */
  field: string;
  /** The id of a resource, unless one of the fields below says otherwise. */
  value: string;
  /** The value is part of the status of an object of this kind: an address of an IPBlock. */
  part?: { kind: string; isIn(status: Shown): boolean };
  /** The value is unique only within the parent of this role: the number of a LAN within its datacenter. */
  within?: string;
  /** Path of a catalogue that is available to everybody, below the base address of the core product. */
  catalogue?: string;
}

/** The target of a reference. */
export interface Referent {
  id: string;
  /** The whole status of the referenced object; empty if only its id is known. */
  status: Shown;
  /** The name of that object, as users of the namespace write it. */
  name?: string;
}

/** A value from a Secret or ConfigMap of the same namespace that a body needs. */
export interface SecretInput {
  field: string;
  kind: "Secret" | "ConfigMap";
  name: string;
  key: string;
}

/** A value from a catalogue of the platform that a body needs: the id of an image or of a template. */
export interface Lookup {
  field: string;
  /** Path below the base address of the core product. */
  path: string;
  /** The value that spec asks for, if the field itself holds it. */
  asked?: unknown;
  /** The value, or the problem that the user must fix. `found` has the earlier lookups of the same creation. */
  pick(answer: unknown, found: Readonly<Record<string, string>>): { value: string } | { problem: string };
}

/**
 * An entry of a platform catalogue that spec names but no body contains. It is looked up when spec names another entry:
 * before the resource is created, and before its Secret changes.
 */
export interface Check {
  field: string;
  /** The host of the catalogue, and the path on that host. */
  endpoint: Endpoint;
  path: string;
  asked: unknown;
  /** The fields that status shows of the entry, or the problem that the user must fix. */
  judge(answer: unknown): { facts: Shown } | { problem: string };
}

/** A field of spec whose valid values the platform lists. They are read after a refused creation, for its message. */
export interface Choice {
  field: string;
  asked: string;
  /** Path below the base address of the core product. */
  path: string;
  /** The valid values in the answer; empty if the answer cannot be read. */
  valid(answer: unknown): string[];
}

/** All inputs of a body or a comparison besides `spec`. */
export interface Inputs {
  /** `metadata.name`, the default of every name on the platform. */
  name: string;
  /** The resource is only observed: fields that spec leaves out are not compared. */
  observed?: boolean;
  /** The resource existed before the object: fields that spec leaves out, or at their default, are not compared. */
  adopted?: boolean;
  /** The last write failed on the platform. It is repeated if that is possible, even if nothing differs. */
  failed?: boolean;
  /** Platform ids of the parents by role. */
  parents: Readonly<Record<string, string>>;
  /** The targets of spec's references by role. Targets with the bond `use` are complete; others may be missing. */
  refs: Readonly<Record<string, Referent>>;
  /** Roles of references into other namespaces, with or without a Grant. */
  abroad?: readonly string[];
  /** Values of Secrets and ConfigMaps by field; only where a body is made. */
  secrets: Readonly<Record<string, string>>;
  /** Values of lookups by field; only where a body is made. */
  found: Readonly<Record<string, string>>;
  /** Fields whose Secret or lookup has changed since the last write of the resource. */
  outdated?: readonly string[];
  /** The kind's own fields of status as last written; none during a creation: they are of the resource before. */
  shown: Shown;
  /** The marks of the last write, until it is known whether it is in effect. */
  marks?: Shown;
  /** Spec as the object has it. */
  spec?: unknown;
  /** Members of another collection that the output shows; absent if spec asks for no output. */
  related?: Related;
  annotations: Readonly<Record<string, string>>;
}

export type FactsContext = Pick<Inputs, "shown" | "marks" | "spec" | "annotations" | "refs" | "related"> & {
  /** The time on the platform in milliseconds; without it, facts leave out what is true only for a while. */
  platformNow?: number;
};

/**
 * Members of a collection by id. The value is undefined for a member that does not exist; a member that has not been
 * read has no entry.
 */
export type Related = ReadonlyMap<string, unknown>;

/** A field whose value on the platform differs from the desired one. */
export interface Drift {
  field: string;
  wanted: string;
  found: string;
}

/** One write that moves a resource closer to its spec. */
export interface Operation {
  /** The action in a user's words: `update`, `start`, `attach`. */
  action: string;
  method: "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path below the base address of the product. */
  path: string;
  body?: unknown;
  /** Makes the body if it needs values of Secrets or lookups. */
  resolve?(inputs: Inputs): unknown;
  /**
   * The write must not be repeated. It is recorded in status before it is sent; if its answer is lost, the platform's
   * request log is read before anything else is sent.
   */
  once?: boolean;
  /** For the Event: the fields of spec that the write changes; all fields with drift if absent. */
  fields?: readonly string[];
  /** For the Event: additional information for the user about this write. */
  note?: string;
  /** Status fields of the kind to set once the platform has done the write. */
  marks?: Readonly<Record<string, string>>;
}

/** The differences between a resource and its spec. */
export interface Comparison {
  drift: Drift[];
  /** The next write; absent if no difference can be changed on the platform. */
  next?: Operation;
}

/** The data of a Secret by key: text or binary. */
export type SecretData = Readonly<Record<string, string | Uint8Array>>;

/** The Secret that workloads mount. */
export interface Publication {
  name: string;
  /** The complete data, made from the resource as the platform shows it, its key, and the addresses of hosts. */
  data(item: unknown, key: string, addressOf: (endpoint: Endpoint) => string): SecretData;
}

/** The Secret or ConfigMap with addresses and ids of the resource, as the user names it in spec. */
export interface OutputTarget {
  secretName?: string | undefined;
  configMapName?: string | undefined;
}

/** Values of the output; the keys are names of environment variables. Empty values are omitted. */
export type OutputValues = Readonly<Record<string, string | number | readonly string[] | null | undefined>>;

/** A client certificate in the formats that clients need: PEM, and key stores with a password. */
export interface ClientCertificate {
  ca: string;
  certificate: string;
  privateKey: string;
  keystore: Uint8Array;
  truststore: Uint8Array;
  password: string;
}

/** A client certificate that the platform returns on every request. Mooring renews it before it expires. */
export interface CertificateAccess {
  /** The paths to read, below the base address of the product. */
  paths(id: string, parents: Readonly<Record<string, string>>): string[];
  /** The PEM texts in the answers; undefined if they are missing. */
  read(answers: readonly unknown[]): Pick<ClientCertificate, "ca" | "certificate" | "privateKey"> | undefined;
  data(answers: readonly unknown[], certificate: ClientCertificate): SecretData;
}

/** A key that the platform returns only once, in the answer to the write that creates it. */
export type OneTimeKey = {
  /** The key of its entry in the Secret. */
  name: string;
  /** The one-time key in the answer to the creation. */
  created(answer: unknown): string | undefined;
} & (KeyOfResource | KeyAsResource);

/** A key that belongs to a resource. */
export interface KeyOfResource {
  /** The write that makes a new key. The old key stops working immediately. */
  renewal(id: string, parents: Readonly<Record<string, string>>): Operation;
  /** The one-time key in the answer to the renewal. */
  renewed(answer: unknown): string | undefined;
}

/**
 * A key that is itself the resource, and that expires. A new key is a new resource, and the old one stays valid for a
 * while. The key exists for its Secret: without a Secret in spec there is no resource.
 */
export interface KeyAsResource {
  /** Creation and expiry by the platform's clock, from the answer to the creation. */
  life(answer: unknown): { issuedAt: string; expiresAt: string };
  /** Seconds until a key that is created with this body expires. */
  lasts(body: unknown): number;
}

/** When Mooring renews a key. */
export interface Rotation {
  /** Maximum age. Default for keys that expire: two thirds of their lifetime. */
  everySeconds?: number;
  /** Time of day in UTC of a renewal that is due: `03:00`. */
  at?: string;
  /** For a certificate: time before its expiry. */
  beforeEndSeconds?: number;
}

/** The spec of one object, parsed and validated by its kind. */
export interface Desired {
  references: Reference[];
  mentions: Mention[];
  secrets: SecretInput[];
  lookups(inputs: Inputs): Lookup[];
  check: Check | undefined;
  choice: Choice | undefined;
  /** A problem for the user to fix before anything is sent, which shows only with the references resolved. */
  problem(inputs: Inputs): string | undefined;
  /** Settings that are allowed but not recommended, for status and an Event. */
  advice(inputs: Inputs): string[];
  /** The Secret for workloads, if there is one. */
  publication(inputs: Pick<Inputs, "name">): Publication | undefined;
  rotation(): Rotation | undefined;
  /** The Secret or ConfigMap for the resource's ids and addresses, if spec asks for one. */
  output: OutputTarget | undefined;
  /** For a permanent resource: whether this item is the one that spec names. */
  isMeant(item: unknown): boolean;
  /** The body that creates the resource. */
  body(inputs: Inputs): unknown;
  /** The differences between the resource, as its collection shows it, and the spec. */
  compare(item: unknown, inputs: Inputs): Comparison;
  /** Query string of the deletion: `?deleteVolumes=true`. */
  query: string;
  /** A write that must come before the deletion of the resource. It must not depend on spec's references. */
  preDelete(item: unknown, inputs: Pick<Inputs, "parents" | "shown">): Operation | undefined;
  /** Users of the resource on the platform that would lose it, and that no object names. */
  users(item: unknown, inputs: Pick<Inputs, "shown" | "marks">): string[];
}
