import type { Contracts } from "../world.ts";
import { createS3Client, type S3Client } from "./client.ts";
import { type Access, bucketUser, type ObjectStorage, type StorageParts } from "./object-storage.ts";

/** An object storage that runs elsewhere, with keys of its own. The platform's S3 keys do not open it. */
export function createExternal(url: string, { buckets, onError }: StorageParts): ObjectStorage {
  let client: S3Client | undefined;
  let known = new Set<string>();
  let contracts: Contracts | undefined;
  const opened = () => {
    if (client === undefined) throw new Error("the object storage is used before it was opened");
    return client;
  };
  const readBuckets = async () => {
    known = new Set(await opened().buckets());
  };

  /** The external storage knows no contracts: a bucket belongs to the first contract that uses it. */
  const contractOf = (bucket: string, asking: number) => {
    if (buckets.includes(bucket)) return contracts?.first.contractNumber;
    return contracts && (bucketUser(contracts, bucket) ?? asking);
  };

  return {
    hasBucket(name, contractNumber) {
      if (known.has(name)) return contractOf(name, contractNumber) === contractNumber;
      // The bucket may be new: the next call knows it.
      readBuckets().catch((error) => onError("object storage: list of buckets", error));
      return false;
    },
    put: (bucket, key, content) => opened().put(bucket, key, content),
    async open(all) {
      contracts = all;
      const access = accessTo(url);
      client = createS3Client(access);
      try {
        for (const name of buckets) await client.createBucket(name);
        await readBuckets();
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        throw new Error(`the object storage at ${url} cannot be used: ${reason}`, { cause: error });
      }
      return access;
    },
    synced: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}

function accessTo(url: string): Access {
  const { MOORING_S3_ACCESS_KEY: accessKey, MOORING_S3_SECRET_KEY: secretKey } = process.env;
  if (!accessKey || !secretKey) {
    throw new Error(`the object storage at ${url} needs a key: set MOORING_S3_ACCESS_KEY and MOORING_S3_SECRET_KEY`);
  }
  return { url, accessKey, secretKey };
}
