import { CreateBucketCommand, PutBucketVersioningCommand, S3Client } from "@aws-sdk/client-s3";

/** The public S3 client, with nothing but an address and a key. */
export const clientFor = (endpoint: string, { accessKey, secretKey }: { accessKey: string; secretKey: string }) =>
  new S3Client({
    endpoint,
    region: "eu-central-1",
    forcePathStyle: true,
    maxAttempts: 1,
    credentials: { accessKeyId: accessKey, secretAccessKey: secretKey },
  });

/** Makes new buckets, whose names begin with `prefix` and are numbered from 0. */
export function bucketsOf(client: S3Client, prefix: string) {
  let made = 0;
  return async (versioned = false): Promise<{ Bucket: string }> => {
    const Bucket = `${prefix}-${made++}`;
    await client.send(new CreateBucketCommand({ Bucket }));
    const VersioningConfiguration = { Status: "Enabled" as const };
    if (versioned) await client.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration }));
    return { Bucket };
  };
}
