/** An object of a bucket, as a list names it. */
export interface StoredObject {
  readonly key: string;
  /** Milliseconds since the epoch; NaN when the list does not say. */
  readonly lastModified: number;
}

export interface ListPage {
  readonly objects: StoredObject[];
  /** Where the next page begins; undefined on the last one. */
  readonly next: string | undefined;
}

/**
 * Reads an answer to ListObjectsV2. The format is fixed and flat, and nothing of it but these elements is relied on:
 * that needs no parser for all of XML.
 */
export function readListPage(xml: string): ListPage {
  if (!xml.includes("<ListBucketResult")) throw new Error("the answer is not a list of objects");
  const objects = [...xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)].map(([, entry = ""]) => ({
    key: element(entry, "Key") ?? "",
    lastModified: Date.parse(element(entry, "LastModified") ?? ""),
  }));
  const truncated = element(xml, "IsTruncated") === "true";
  return { objects, next: truncated ? element(xml, "NextContinuationToken") : undefined };
}

/** Code and words of an S3 error; undefined when the answer is something else. */
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
