import { S3Client } from "@aws-sdk/client-s3";

/** The public S3 client, with nothing but an address and a key. */
export const clientFor = (endpoint: string, { accessKey, secretKey }: { accessKey: string; secretKey: string }) =>
  new S3Client({
    endpoint,
    region: "eu-central-1",
    forcePathStyle: true,
    maxAttempts: 1,
    credentials: { accessKeyId: accessKey, secretAccessKey: secretKey },
  });
