/** Tables for reflected CRCs: the polynomial's low and high 32 bits, `high` 0 for CRCs of 32 bits. */
function tableOf(high: number, low: number) {
  const highs = new Uint32Array(256);
  const lows = new Uint32Array(256);
  for (let byte = 0; byte < 256; byte += 1) {
    let [h, l] = [0, byte];
    for (let bit = 0; bit < 8; bit += 1) {
      const odd = l & 1;
      l = ((l >>> 1) | (h << 31)) >>> 0;
      h >>>= 1;
      if (odd) [h, l] = [h ^ high, l ^ low];
    }
    highs[byte] = h;
    lows[byte] = l;
  }
  return { highs, lows };
}

export interface Crc {
  update(bytes: Buffer): void;
  /** Big-endian, as checksums of S3 are. */
  digest(): Buffer;
}

const castagnoli = tableOf(0, 0x82f63b78);
const nvme = tableOf(0x9a6c9329, 0xac4bc9b5);

export function crc32c(): Crc {
  let crc = 0xffffffff;
  return {
    update(bytes) {
      for (const byte of bytes) crc = (crc >>> 8) ^ (castagnoli.lows[(crc ^ byte) & 0xff] ?? 0);
    },
    digest() {
      const digest = Buffer.alloc(4);
      digest.writeUInt32BE((crc ^ 0xffffffff) >>> 0);
      return digest;
    },
  };
}

/** CRC-64/NVME in two halves: numbers are exact to 53 bits only, and bigints are slow. */
export function crc64nvme(): Crc {
  let [high, low] = [0xffffffff, 0xffffffff];
  return {
    update(bytes) {
      for (const byte of bytes) {
        const index = (low ^ byte) & 0xff;
        low = ((low >>> 8) | (high << 24)) ^ (nvme.lows[index] ?? 0);
        high = (high >>> 8) ^ (nvme.highs[index] ?? 0);
      }
    },
    digest() {
      const digest = Buffer.alloc(8);
      digest.writeUInt32BE((high ^ 0xffffffff) >>> 0, 0);
      digest.writeUInt32BE((low ^ 0xffffffff) >>> 0, 4);
      return digest;
    },
  };
}
