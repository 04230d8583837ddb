/** The APIs of the platform; each has its own base address and its own ways. */
export type Product = "core" | "auth" | "autoscaling" | "monitoring" | "logging" | "streaming";

/** Hosts of the platform that are no such API and that workloads or checks need. */
export type Endpoint = "inference" | "objectStorage";

/** The kind's part of an object's status, whatever it holds. */
export type Shown = Readonly<Record<string, unknown>>;

/** Another object by its name, in the same namespace unless another one is named. */
export interface ObjectRef {
  name: string;
  namespace?: string | undefined;
}

/** A field that points to another object: by its name, or by the platform's id. */
export interface Reference {
  /** The role it plays, the key of its id in `Inputs`: `datacenter`. */
  role: string;
  /** The kind of the referenced object. */
  kind: string;
  /** The field to name in messages: `datacenterRef`. */
  field: string;
  /** By the platform's id: of a resource, or of a part of what objects of a kind have. */
  target: ObjectRef | { id: string; part?: Mention["part"] };
  /**
   * `place` (default): the resource lives under it; the id is kept in status, and deletion works from there.
   * `use`: needed for as long as the resource exists; looked at anew each time.
   * `seed`: needed at creation only.
   * What a resource lives under or uses is not deleted while the resource is still there.
   */
  bond?: "place" | "use" | "seed";
  /** What of the named object is meant, where it is not the id of its resource. */
  part?: { what: string; of(status: Shown): string | undefined; all?(status: Shown): string[] };
}

/**
 * Something of the contract that spec names by its id or name on the platform, and that is no reference. Where a contract is
 * shared, the engine judges whose it is: one that objects of the namespace have, or one that is everybody's.
 */
export interface Mention {
  /** The field to name in messages: `bootVolume.image`. */
  field: string;
  /** An id of a resource, unless it says more below. */
  value: string;
  /** It is a part of what objects of this kind have: an address of an IPBlock. */
  part?: { kind: string; isIn(status: Shown): boolean };
  /** It means something only in the parent of this role: the number of a LAN in its datacenter. */
  within?: string;
  /** The platform has some for everybody; where they are listed, below the base address of the core product. */
  catalogue?: string;
}

/** What a reference leads to. */
export interface Referent {
  id: string;
  /** The whole status of the object behind it; empty when it is known by its id only. */
  status: Shown;
  /** The name of that object, as people of the namespace write it. */
  name?: string;
}

/** A value that a body needs out of a Secret or ConfigMap of the same namespace. */
export interface SecretInput {
  field: string;
  kind: "Secret" | "ConfigMap";
  name: string;
  key: string;
}

/** A value that a body needs out of a catalogue of the platform: the id of an image, of a template. */
export interface Lookup {
  field: string;
  /** Path below the base address of the core product. */
  path: string;
  /** What spec asks for, where it is the field itself that asks. */
  asked?: unknown;
  /** The value, or what a person has to change; `found` has the earlier lookups of the same creation. */
  pick(answer: unknown, found: Readonly<Record<string, string>>): { value: string } | { problem: string };
}

/**
 * Something of the platform's catalogues that spec names and no body holds. Looked up when spec names another one: before the
 * resource is created, and before its Secret changes.
 */
export interface Check {
  field: string;
  /** The host that has the catalogue, and the path there. */
  endpoint: Endpoint;
  path: string;
  asked: unknown;
  /** What of it the kind's part of status shows, or what a person has to change. */
  judge(answer: unknown): { facts: Shown } | { problem: string };
}

/** A field of spec whose valid values the platform lists. They are read when a creation was refused, for its message. */
export interface Choice {
  field: string;
  asked: string;
  /** Path below the base address of the core product. */
  path: string;
  /** The values in the answer; empty when it is not understood. */
  valid(answer: unknown): string[];
}

/** Everything outside `spec` that a body or a comparison is made of. */
export interface Inputs {
  /** `metadata.name`: the default of every platform name. */
  name: string;
  /** The resource is only observed: what spec does not say is not wanted either. */
  observed?: boolean;
  /** The resource was there before the object: what spec leaves out, or leaves to a default, is not wanted. */
  adopted?: boolean;
  /** The platform failed at the last write: what is up to date, and can be written again, is to be written again. */
  failed?: boolean;
  /** Ids of the parents by role. */
  parents: Readonly<Record<string, string>>;
  /** What spec's references lead to, by role. Those that are used are all there; others as far as they are known. */
  refs: Readonly<Record<string, Referent>>;
  /** Roles of references that lead into another namespace, whether they may or not. */
  abroad?: readonly string[];
  /** Values of the Secrets and ConfigMaps by field, where a body is made. */
  secrets: Readonly<Record<string, string>>;
  /** Values of the lookups by field, where a body is made. */
  found: Readonly<Record<string, string>>;
  /** Fields with a Secret or a lookup that is another one than the resource was last written with. */
  outdated?: readonly string[];
  /** The kind's part of status as it was last written. */
  shown: Shown;
  /** Members of another collection that the output shows; absent where spec asks for no output. */
  related?: Related;
  annotations: Readonly<Record<string, string>>;
}

/** Members of a collection by their ids: undefined for one that is not there, no entry for one that nobody has read yet. */
export type Related = ReadonlyMap<string, unknown>;

/** One field whose value on the platform is not the wanted one. */
export interface Drift {
  field: string;
  wanted: string;
  found: string;
}

/** One write that brings a resource nearer to its spec. */
export interface Operation {
  /** What a person calls it: `update`, `start`, `attach`. */
  action: string;
  method: "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path below the base address of the product. */
  path: string;
  body?: unknown;
  /** Makes the body instead, where it needs values of Secrets and lookups. */
  resolve?(inputs: Inputs): unknown;
  /**
   * Twice would be once too often: it is noted in status before it is sent, and when its answer is lost, the platform's
   * log is asked what became of it before anything else is sent.
   */
  once?: boolean;
  /** For the Event: the fields of spec that it changes; all that differ, where it does not say. */
  fields?: readonly string[];
  /** For the Event: what a person should know about this write. */
  note?: string;
  /** Fields of the kind's status that are true once the write is done. */
  marks?: Readonly<Record<string, string>>;
}

/** What stands between a resource and its spec. */
export interface Comparison {
  drift: Drift[];
  /** The next write; absent when nothing that the platform can change differs. */
  next?: Operation;
}

/** What is in a Secret, by name; texts, and files that are none. */
export type SecretData = Readonly<Record<string, string | Uint8Array>>;

/** The Secret that workloads mount. */
export interface Publication {
  name: string;
  /** All that is in it, given the resource as the platform shows it, the key that goes with it, and where hosts are. */
  data(item: unknown, key: string, addressOf: (endpoint: Endpoint) => string): SecretData;
}

/** The Secret or ConfigMap that a user asks for, with addresses and ids of the resource. */
export interface OutputTarget {
  secretName?: string | undefined;
  configMapName?: string | undefined;
}

/** Its entries as the platform reports them, by keys that are names of environment variables; empty ones are left out. */
export type OutputValues = Readonly<Record<string, string | number | readonly string[] | null | undefined>>;

/** A client certificate with everything that clients ask for. PEM, and stores with a password. */
export interface ClientCertificate {
  ca: string;
  certificate: string;
  privateKey: string;
  keystore: Uint8Array;
  truststore: Uint8Array;
  password: string;
}

/** A client certificate that the platform shows whenever it is asked. It ends some day, and is asked for anew before. */
export interface CertificateAccess {
  /** What has to be read, below the base address of the product. */
  paths(id: string, parents: Readonly<Record<string, string>>): string[];
  /** The PEMs in the answers; undefined when they are not there. */
  read(answers: readonly unknown[]): Pick<ClientCertificate, "ca" | "certificate" | "privateKey"> | undefined;
  data(answers: readonly unknown[], certificate: ClientCertificate): SecretData;
}

/** A key that the platform shows once, in the answer to the write that makes it. */
export type OneTimeKey = {
  /** Under this name it is in the Secret. */
  name: string;
  /** The key in the answer to the creation. */
  created(answer: unknown): string | undefined;
} & (KeyOfResource | KeyAsResource);

/** A key that a resource has. */
export interface KeyOfResource {
  /** The write that makes a new key. The old one stops working at once. */
  renewal(id: string, parents: Readonly<Record<string, string>>): Operation;
  /** The key in the answer to that. */
  renewed(answer: unknown): string | undefined;
}

/**
 * A key that is the resource, and expires. A new one is another resource; the one before works on for a while. It is made for
 * its Secret: where spec asks for none, there is no resource.
 */
export interface KeyAsResource {
  /** When it was made and when it expires, by the platform's clock, out of the answer to the creation. */
  life(answer: unknown): { issuedAt: string; expiresAt: string };
  /** How many seconds one lives that is created with this body. */
  lasts(body: unknown): number;
}

/** When a key is renewed by itself. */
export interface Rotation {
  /** So long after it was made; for what expires two thirds of its life, when nothing is said. */
  everySeconds?: number;
  /** The time of the day, in UTC, at which a renewal that is due is made: `03:00`. */
  at?: string;
  /** Of a certificate: so long before it expires. */
  beforeEndSeconds?: number;
}

/** One object's spec, read and checked by its kind. */
export interface Desired {
  references: Reference[];
  mentions: Mention[];
  secrets: SecretInput[];
  lookups(inputs: Inputs): Lookup[];
  check: Check | undefined;
  choice: Choice | undefined;
  /** What a person has to change before anything is sent, where only the references together can tell. */
  problem(inputs: Inputs): string | undefined;
  /** Settings that are allowed but not recommended, for status and an Event. */
  advice(inputs: Inputs): string[];
  /** The Secret that is kept for workloads; undefined where there is none. */
  publication(inputs: Pick<Inputs, "name">): Publication | undefined;
  rotation(): Rotation | undefined;
  /** Where what workloads need to know of the resource is written, if anywhere. */
  output: OutputTarget | undefined;
  /** Which of those that are always there is meant. */
  isMeant(item: unknown): boolean;
  /** The body that creates the resource. */
  body(inputs: Inputs): unknown;
  /** How far the resource, as a collection shows it, is from the spec. */
  compare(item: unknown, inputs: Inputs): Comparison;
  /** Added to the path of its deletion: `?deleteVolumes=true`. */
  query: string;
  /** A write that has to come before the deletion of the resource, whatever has become of what spec refers to. */
  preDelete(item: unknown, inputs: Pick<Inputs, "parents" | "shown">): Operation | undefined;
}
