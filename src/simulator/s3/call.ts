import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import type { Blobs } from "./buckets/blobs.ts";
import type { Buckets } from "./buckets/buckets.ts";
import type { Bucket } from "./buckets/records.ts";
import type { Signed } from "./request/signature.ts";
import type { Xml } from "./xml/xml.ts";

export const mayRead = ({ id, isOwner, contractNumber }: S3User, bucket: Bucket) =>
  bucket.userId === id || (isOwner && bucket.contractNumber === contractNumber);

/** The storage that operations work on. */
export interface Depot {
  readonly buckets: Buckets;
  readonly blobs: Blobs;
  /** The machine's time, which clients sign with and compare with. */
  now(): number;
  /** Writes rows: all or none, and survives the process once it resolves. */
  write<R>(work: () => R): Promise<R>;
}

/** The caller. The contract's owner may read the buckets of all its users. */
export interface S3User {
  id: string;
  contractNumber: number;
  name: string;
  isOwner: boolean;
}

/** One call as an operation sees it: signed by a known user. */
export interface S3Call {
  request: IncomingMessage;
  signed: Signed;
  user: S3User;
  /** The first value of a query parameter that is not empty. */
  query(name: string): string | undefined;
  header(name: string): string | undefined;
}

/** About a bucket that exists and that the caller may use this way. */
export interface BucketCall extends S3Call {
  bucket: Bucket;
}

export interface ObjectCall extends BucketCall {
  key: string;
}

export interface S3Reply {
  status: number;
  headers?: Record<string, string | number>;
  /** At most one of the three. */
  xml?: Xml;
  stream?: Readable;
  /** A document that is kept as text. */
  text?: { type: string; content: string };
}

/** Clients read the id as the number of the contract. */
export const ownerOf = ({ contractNumber, name }: Pick<S3User, "contractNumber" | "name">): Xml => [
  "Owner",
  [
    ["ID", String(contractNumber)],
    ["DisplayName", name],
  ],
];

export const isoDate = (at: number) => new Date(at).toISOString();
export const httpDate = (at: number) => new Date(at).toUTCString();
