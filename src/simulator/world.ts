import type { Agenda } from "./agenda.ts";
import type { Chance, Counters } from "./chance.ts";
import type { Forms } from "./http/exchange.ts";
import type { Identity } from "./identity/identity.ts";
import type { AccessKeys } from "./records/access-keys.ts";
import type { Activity } from "./records/activity.ts";
import type { Ledger } from "./records/billing.ts";
import type { CertificateRecords } from "./records/certificates.ts";
import type { DnsRecords } from "./records/dns.ts";
import type { Limits } from "./records/limits.ts";
import type { PipelineRecords } from "./records/pipelines.ts";
import type { RequestRecord } from "./records/requests.ts";
import type { ScalingRecords } from "./records/scaling/records.ts";
import type { DataPlane, StreamingRecords } from "./records/streaming.ts";
import type { Usage } from "./records/usage.ts";
import type { Documents, Table } from "./store/documents.ts";
import type { Resources } from "./store/resources.ts";
import type { Lines } from "./telemetry/lines.ts";
import type { Samples } from "./telemetry/samples.ts";
import type { MachineTime, SimulatedClock } from "./time.ts";
import type { Viewer } from "./visibility.ts";

/** All parts of one contract, for every handler. */
export interface World {
  readonly clock: SimulatedClock;
  /** For times that clients compare with their own clocks. */
  readonly machine: MachineTime;
  readonly agenda: Agenda;
  readonly chance: Chance;
  readonly counters: Counters;
  readonly documents: Documents;
  /** The resources that the user of the present call can see, according to `viewer`. */
  readonly resources: Resources;
  readonly viewer: Viewer;
  readonly requests: Table<RequestRecord>;
  readonly identity: Identity;
  readonly activity: Activity;
  readonly contractNumber: number;
  /** The forms of the interface that are served. */
  readonly forms: Forms;
  /** The contract of the ready line. */
  readonly isFirst: boolean;
  readonly limits: Table<Limits>;
  readonly usage: Usage;
  readonly scaling: ScalingRecords;
  readonly storage: Storage;
  readonly pipelines: PipelineRecords;
  readonly samples: Samples;
  readonly lines: Lines;
  /** `host:port` where log pipelines take lines by the forward protocol; empty until it listens. */
  forwardAddress(): string;
  readonly streaming: StreamingRecords;
  readonly dataPlane: DataPlane;
  readonly dns: DnsRecords;
  readonly certificates: CertificateRecords;
  readonly billing: Ledger;
  readonly accessKeys: AccessKeys;
  /** Where the object storage is; empty until it listens. */
  objectStorageUrl(): string;
}

/** The object storage as a contract uses it. It writes into every bucket of the contract, whoever owns it. */
export interface Storage {
  hasBucket(name: string): boolean;
  put(bucket: string, key: string, content: Buffer): Promise<void>;
}

/** The object storage of all contracts. */
export interface ContractStorage {
  /** Whether the contract has this bucket; names are unique on the whole platform. */
  hasBucket(name: string, contractNumber: number): boolean;
  put(bucket: string, key: string, content: Buffer): Promise<void>;
}

/** The owner of a contract, with credentials. */
export interface Owner {
  contractNumber: number;
  username: string;
  password: string;
  token: string;
  s3: { accessKey: string; secretKey: string };
}

/**
 * The contracts of the platform. Each is a world with its own tables, so a handler cannot show another contract. They
 * share the clock, the agenda, public addresses and the names of buckets.
 */
export interface Contracts {
  /** The contract of the ready line. */
  readonly first: World;
  all(): World[];
  of(contractNumber: number): World | undefined;
  /** Calls `visit` for every contract that exists, and for each that is added later. */
  each(visit: (world: World) => void): void;
  /** A further contract. Inside a transaction. */
  add(owner?: { username?: string | undefined; password?: string | undefined }): Owner;
  /** Creates the first user, keys and catalogue of a contract, unless an earlier run did. Inside a transaction. */
  open(world: World): Owner;
}
