import { isIPv4 } from "node:net";
import { z } from "zod";
import { blobSchema } from "./blobs.ts";

export const bucketNameRule =
  "3 to 63 characters of a-z, 0-9, - and . with one of a-z or 0-9 at both ends, not an IP address";

/** Whether S3 accepts the name of a bucket. */
export function isBucketName(name: string): boolean {
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(name) || name.includes("..") || isIPv4(name)) return false;
  return !name.startsWith("xn--") && !name.endsWith("-s3alias");
}

/** The region of a bucket whose maker names none, and of a storage whose address names none. */
export const defaultRegion = "eu-central-1";

/** The region in a host such as s3.eu-central-3.example.com. */
export const regionOf = (url: string) => /^https?:\/\/s3[.-]([a-z]+(?:-[a-z]+)*-\d)\./.exec(url)?.[1] ?? defaultRegion;

export const bucketSchema = z.object({
  name: z.string(),
  userId: z.string(),
  /** 0: from an old data directory, and of the first contract. */
  contractNumber: z.number().default(0),
  region: z.string(),
  createdAt: z.number(),
  /** By the name of the sub-resource, as reads give them back. */
  settings: z.record(z.string(), z.string()).default({}),
});
export type Bucket = Readonly<z.infer<typeof bucketSchema>>;

const headersSchema = z.record(z.string(), z.string());

export const objectSchema = z.object({
  bucket: z.string(),
  key: z.string(),
  /** In a row: one, or the parts of a multipart upload. */
  blobs: z.array(blobSchema).readonly(),
  size: z.int(),
  etag: z.string(),
  modifiedAt: z.number(),
  /** Given back with the content: its type, encoding and so on, and x-amz-meta-*. */
  headers: headersSchema,
  checksum: z.object({ name: z.string(), value: z.string() }).optional(),
  /** Absent: it was made without versioning. */
  versionId: z.string().optional(),
  /** Tags, retention and legal hold, by the name of the sub-resource, as reads give them back. */
  settings: z.record(z.string(), z.string()).optional(),
});
export type StoredObject = Readonly<z.infer<typeof objectSchema>>;

export const versionSchema = z.object({
  /** Counts up: the order of versions. */
  n: z.int(),
  bucket: z.string(),
  key: z.string(),
  versionId: z.string(),
  /** null: the marker of a deletion. */
  object: objectSchema.nullable(),
  modifiedAt: z.number(),
});
/** An older version of a key, or the marker of its deletion. */
export type Version = Readonly<z.infer<typeof versionSchema>>;

export const uploadSchema = z.object({
  id: z.string(),
  bucket: z.string(),
  key: z.string(),
  startedAt: z.number(),
  headers: headersSchema,
  settings: z.record(z.string(), z.string()).optional(),
});
export type Upload = Readonly<z.infer<typeof uploadSchema>>;

export const partSchema = z.object({
  uploadId: z.string(),
  number: z.int(),
  blob: blobSchema,
  etag: z.string(),
  modifiedAt: z.number(),
});
export type Part = Readonly<z.infer<typeof partSchema>>;
