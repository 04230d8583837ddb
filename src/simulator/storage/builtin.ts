import { join } from "node:path";
import { s3KeyOf } from "../core/users/s3-keys.ts";
import { createBlobs } from "../s3/buckets/blobs.ts";
import { createBuckets } from "../s3/buckets/buckets.ts";
import type { Depot, S3User } from "../s3/call.ts";
import { makeBucket } from "../s3/operations/bucket-operations.ts";
import { storeObject } from "../s3/operations/object-operations.ts";
import { createOperations } from "../s3/operations/operations.ts";
import { createS3Server } from "../s3/server.ts";
import type { Contracts } from "../world.ts";
import type { ObjectStorage, StorageParts } from "./object-storage.ts";

/**
 * The object storage of this process: an S3 subset with real signatures. Buckets and the list of objects are rows of the
 * platform's state, so that both are always consistent; the content is in files.
 */
export function createBuiltin(parts: StorageParts): ObjectStorage {
  const { documents, machine, onError } = parts;
  const buckets = createBuckets(documents);
  const depot: Depot = {
    buckets,
    blobs: createBlobs(parts.data === undefined ? undefined : join(parts.data, "objects")),
    now: () => machine.now(),
    async write(work) {
      const result = documents.transaction(work);
      await parts.durable();
      return result;
    },
  };
  let server: ReturnType<typeof createS3Server> | undefined;

  return {
    hasBucket: (name, contractNumber) => buckets.buckets.get(name)?.contractNumber === contractNumber,
    async put(bucket, key, content) {
      const { id, size, md5 } = await depot.blobs.write(once(content));
      const object = { bucket, key, blobs: [{ id, size }], size, etag: md5, modifiedAt: machine.now(), headers: {} };
      await storeObject(depot, object, () => {});
    },
    async open(contracts, { accessKey, secretKey }) {
      await depot.blobs.sweep(buckets.blobs());
      await depot.write(() => {
        const { contractNumber } = contracts.first;
        // Buckets in old data directories have no contract.
        for (const bucket of [...buckets.buckets.values()].filter((each) => each.contractNumber === 0)) {
          buckets.buckets.put(bucket.name, { ...bucket, contractNumber });
        }
        const owner = s3KeyOf(contracts.all(), accessKey)?.user;
        const missing = parts.buckets.filter((name) => buckets.buckets.get(name) === undefined);
        for (const name of missing) makeBucket(depot, name, { id: owner?.id ?? "", contractNumber });
      });
      const nameOf = (id: string) =>
        contracts
          .all()
          .map(({ identity }) => identity.users.get(id)?.username)
          .find((name) => name !== undefined) ?? id;
      server = createS3Server({
        keyOf: (key) => activeKey(contracts, key),
        answer: createOperations(depot, nameOf),
        now: depot.now,
        onError,
      });
      return { url: await server.listen(parts.host, parts.port), accessKey, secretKey };
    },
    synced: () => Promise.resolve(),
    async close() {
      await server?.close();
      await depot.blobs.close();
    },
  };
}

function activeKey(contracts: Contracts, accessKey: string): { secretKey: string; user: S3User } | undefined {
  const key = s3KeyOf(contracts.all(), accessKey);
  if (key === undefined || !key.active) return undefined;
  const { secretKey, world, user } = key;
  const { contractNumber } = world;
  return { secretKey, user: { id: user.id, name: user.username, contractNumber, isOwner: user.role === "owner" } };
}

async function* once(content: Buffer): AsyncGenerator<Buffer> {
  yield content;
}
