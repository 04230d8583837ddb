import { AwsClient } from "aws4fetch";
import { regionOf } from "../s3/buckets/records.ts";
import { elementsIn, textOf } from "../s3/xml/xml.ts";
import type { Access } from "./object-storage.ts";

/** The few calls that the platform itself makes to an object storage that is not its own code. */
export interface S3Client {
  buckets(): Promise<string[]>;
  /** A bucket that the caller has already is fine. */
  createBucket(name: string): Promise<void>;
  put(bucket: string, key: string, content: Buffer): Promise<void>;
  /** Makes a signed call and gives the body. Rejects with the storage's own message unless the answer is 2xx. */
  call(method: string, path: string, body?: string | Uint8Array<ArrayBuffer>): Promise<string>;
}

const patienceMs = 30_000;

export function createS3Client({ url, accessKey, secretKey }: Access): S3Client {
  const base = url.replace(/\/+$/, "");
  const client = new AwsClient({
    accessKeyId: accessKey,
    secretAccessKey: secretKey,
    service: "s3",
    region: regionOf(base),
    retries: 3,
  });

  async function call(method: string, path: string, body?: string | Uint8Array<ArrayBuffer>): Promise<string> {
    const signal = AbortSignal.timeout(patienceMs);
    const response = await client.fetch(base + path, { method, signal, ...(body !== undefined && { body }) });
    const text = await response.text();
    if (response.ok) return text;
    throw new S3CallError(response.status, textOf(text, "Code") ?? "", textOf(text, "Message") ?? "", `${base}${path}`);
  }

  return {
    call,
    async buckets() {
      return elementsIn(await call("GET", "/"), "Bucket").map((each) => textOf(each, "Name") ?? "");
    },
    async createBucket(name) {
      try {
        await call("PUT", `/${name}`);
      } catch (error) {
        if (!(error instanceof S3CallError) || error.code !== "BucketAlreadyOwnedByYou") throw error;
      }
    },
    async put(bucket, key, content) {
      await call("PUT", `/${bucket}/${key.split("/").map(encodeURIComponent).join("/")}`, new Uint8Array(content));
    },
  };
}

class S3CallError extends Error {
  readonly code: string;

  constructor(status: number, code: string, message: string, about: string) {
    super(`${about} answered ${status} ${code}${message && `: ${message}`}`);
    this.name = "S3CallError";
    this.code = code;
  }
}
