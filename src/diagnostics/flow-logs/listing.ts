/** An object of a bucket, from a list. */
export interface StoredObject {
  readonly key: string;
  /** Milliseconds since the epoch; NaN if unknown. */
  readonly lastModified: number;
  /** Bytes; NaN if unknown. */
  readonly size: number;
}

export interface ListPage {
  readonly objects: StoredObject[];
  /** The start of the next page; undefined on the last page. */
  readonly next: string | undefined;
}

/**
 * Parses an answer to ListObjectsV2. The format is fixed and flat and only these elements are used, so a full XML
 * parser is not necessary.
 */
export function readListPage(xml: string): ListPage {
  if (!xml.includes("<ListBucketResult")) throw new Error("the answer is not a list of objects");
  const objects = [...xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)].map(([, entry = ""]) => ({
    key: element(entry, "Key") ?? "",
    lastModified: Date.parse(element(entry, "LastModified") ?? ""),
    size: Number.parseInt(element(entry, "Size") ?? "", 10),
  }));
  const truncated = element(xml, "IsTruncated") === "true";
  return { objects, next: truncated ? element(xml, "NextContinuationToken") : undefined };
}

/** Code and message of an S3 error; undefined for any other answer. */
export function readStorageError(xml: string): { code: string; message: string } | undefined {
  const code = element(xml, "Code");
  return code === undefined ? undefined : { code, message: element(xml, "Message") ?? "" };
}

function element(xml: string, name: string): string | undefined {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
  return text?.replaceAll(/&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi, decode);
}

const named: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function decode(entity: string, decimal?: string, hexadecimal?: string, name?: string): string {
  if (name !== undefined) return named[name] ?? entity;
  const point = decimal === undefined ? Number.parseInt(hexadecimal ?? "", 16) : Number(decimal);
  return point <= 0x10ffff ? String.fromCodePoint(point) : entity;
}
