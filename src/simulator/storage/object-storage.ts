import type { Documents } from "../store/documents.ts";
import { type Properties, textIn } from "../store/resource.ts";
import type { MachineTime } from "../time.ts";
import type { ContractStorage, Contracts } from "../world.ts";

/** What a client needs to use the object storage. */
export interface Access {
  url: string;
  accessKey: string;
  secretKey: string;
}

/** An object storage with its life: made with the world, opened once the world's state is there. */
export interface ObjectStorage extends ContractStorage {
  /** Begins to serve, with the buckets of the first contract's owner in it; `key` is his. */
  open(contracts: Contracts, key: Omit<Access, "url">): Promise<Access>;
  /** Resolves when the storage knows every S3 key as it is now. */
  inStep(): Promise<void>;
  close(): Promise<void>;
}

/** What any kind of object storage is made with. */
export interface StorageParts {
  documents: Documents;
  machine: MachineTime;
  /** Keeps the content in this directory, in a folder of its own; absent: in a temporary one that goes at the end. */
  data: string | undefined;
  host: string;
  port: number;
  /** Buckets of the owner that are there from the start. */
  buckets: readonly string[];
  /** Resolves when all rows written so far survive the death of the process. */
  durable(): Promise<void>;
  onError(where: string, error: unknown): void;
}

/** The contract whose flow logs use a bucket: whose it is, where the storage itself does not know. */
export function bucketUser(contracts: Contracts, bucket: string): number | undefined {
  const usesIt = ({ properties }: { properties: Properties }) => textIn(properties, "bucket")?.split("/")[0] === bucket;
  return contracts
    .all()
    .find(({ viewer, resources }) => viewer.asPlatform(() => [...resources.ofType("flow-log")].some(usesIt)))
    ?.contractNumber;
}
