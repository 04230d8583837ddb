declare module "snappyjs" {
  /** Snappy's block format. */
  export function compress(uncompressed: Uint8Array): Uint8Array;
}
