import type { Documents } from "../store/documents.ts";
import { type Properties, textIn } from "../store/resource.ts";
import type { MachineTime } from "../time.ts";
import type { ContractStorage, Contracts } from "../world.ts";

/** The address and key that a client needs. */
export interface Access {
  url: string;
  accessKey: string;
  secretKey: string;
}

/** An object storage that can be opened and closed. It is opened once the state of an earlier run is restored. */
export interface ObjectStorage extends ContractStorage {
  /** Begins to serve, with the buckets of the first contract's owner, whose key is `key`. */
  open(contracts: Contracts, key: Omit<Access, "url">): Promise<Access>;
  /** Resolves when the storage knows the current S3 keys. */
  synced(): Promise<void>;
  close(): Promise<void>;
}

/** The parts of every kind of object storage. */
export interface StorageParts {
  documents: Documents;
  machine: MachineTime;
  /** Keeps the content in a folder of this directory; absent: in a temporary folder that is removed at the end. */
  data: string | undefined;
  host: string;
  port: number;
  /** Buckets of the owner that are there from the start. */
  buckets: readonly string[];
  /** Resolves when all rows written so far survive the death of the process. */
  durable(): Promise<void>;
  onError(where: string, error: unknown): void;
}

/** The contract whose flow logs use a bucket, where the storage itself knows no contracts. */
export function bucketUser(contracts: Contracts, bucket: string): number | undefined {
  const usesIt = ({ properties }: { properties: Properties }) => textIn(properties, "bucket")?.split("/")[0] === bucket;
  return contracts
    .all()
    .find(({ viewer, resources }) => viewer.asPlatform(() => [...resources.ofType("flow-log")].some(usesIt)))
    ?.contractNumber;
}
