import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { type Crc, crc32c, crc64nvme } from "./crc.ts";

const algorithms: Record<string, () => Crc> = {
  crc32: plainCrc32,
  crc32c,
  crc64nvme,
  sha1: () => hash("sha1"),
  sha256: () => hash("sha256"),
};

export const checksumNames = Object.keys(algorithms);

/** The header, or trailer, that carries a checksum of an algorithm. */
export const checksumHeader = (name: string) => `x-amz-checksum-${name}`;

/** Starts a checksum of S3; undefined for an algorithm that is not one of S3's. */
export const startChecksum = (name: string): Crc | undefined => algorithms[name]?.();

function hash(name: string): Crc {
  const hash = createHash(name);
  return { update: (bytes) => void hash.update(bytes), digest: () => hash.digest() };
}

function plainCrc32(): Crc {
  let value = 0;
  return {
    update(bytes) {
      value = crc32(bytes, value);
    },
    digest() {
      const digest = Buffer.alloc(4);
      digest.writeUInt32BE(value);
      return digest;
    },
  };
}
