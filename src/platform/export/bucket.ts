import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { AwsV4Signer } from "aws4fetch";
import { type Clock, systemClock } from "../../runtime/clock.ts";
import { withoutTrailing } from "../../runtime/text.ts";
import type { Connection } from "../calls/connection.ts";
import { platformTime } from "../calls/platform-time.ts";
import { encodePath, regionOf } from "../products/s3.ts";
import type { Destination } from "./destination.ts";
import { withoutKeys } from "./keys.ts";

export interface BucketPlace {
  /** The endpoint of object storage; the bucket is part of the path. */
  endpoint: string;
  bucket: string;
  prefix: string;
  /** Default: the region in the host name. */
  region?: string | undefined;
  accessKey: string;
  secretKey: string;
}

const compressed = promisify(gzip);

/**
 * One object per window, NDJSON with gzip, in a folder per hour. Its name is made of the window and a hash of its content: a
 * second delivery writes the same object, so every entry is there once.
 */
export function toBucket(connection: Connection, place: BucketPlace, guard: () => void): Destination {
  const { endpoint, bucket, prefix, region = regionOf(endpoint), accessKey, secretKey } = place;
  const { clock = systemClock } = connection;
  const to: Destination = {
    most: 5_000,
    async deliver({ period, lines }) {
      const text = lines.map((line) => `${line.text}\n`).join("");
      const key = `${prefix}${nameOf(period.from, text)}`;
      const bytes = new Uint8Array(await compressed(text));
      const url = `${withoutTrailing(endpoint, "/")}/${encodePath(bucket)}/${encodePath(key)}`;
      const signer = new AwsV4Signer({
        method: "PUT",
        url,
        headers: { "content-type": "application/x-ndjson", "x-amz-content-sha256": hashOf(bytes) },
        body: bytes,
        accessKeyId: accessKey,
        secretAccessKey: secretKey,
        service: "s3",
        region,
        datetime: signingTime(clock, connection),
      });
      const { headers } = await signer.sign();
      const [, signature = ""] = /Signature=(\w+)/.exec(headers.get("authorization") ?? "") ?? [];
      const keys = [accessKey, secretKey, signature];
      const call = { method: "PUT", url, bytes, keys, product: "objectstorage", guard } as const;
      await connection.send({ ...call, headers: Object.fromEntries(headers.entries()) });
    },
  };
  return withoutKeys(to, [accessKey, secretKey], guard);
}

/** `2026/03/01/10/0000000-3f5a….ndjson.gz`: minute, second and millisecond of the start of the window, and a hash. */
function nameOf(from: number, text: string): string {
  const [date = "", time = ""] = new Date(from).toISOString().split("T");
  const [hour = "", minute = "", second = ""] = time.split(":");
  const within = `${minute}${second}`.replace(/\D/g, "");
  return `${date.replaceAll("-", "/")}/${hour}/${within}-${hashOf(text).slice(0, 16)}.ndjson.gz`;
}

const hashOf = (content: string | Uint8Array): string => createHash("sha256").update(content).digest("hex");

/** The platform's time, as far as it is known: the platform checks the signature by it. */
const signingTime = (clock: Clock, connection: Connection): string =>
  new Date(platformTime(clock, connection)).toISOString().replace(/[-:]|\.\d+/g, "");
