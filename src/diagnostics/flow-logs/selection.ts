import type { StoredObject } from "./listing.ts";

/** A period in milliseconds since the epoch; either end may be open. */
export interface Period {
  since?: number | undefined;
  until?: number | undefined;
}

/** The platform writes an object every ten minutes. The margin covers differences of clocks. */
const ROTATION_MS = 600_000;
const MARGIN_MS = 60_000;

/** Flow logs are gzip files. Other objects of the bucket are ignored. */
export const isFlowLog = ({ key }: Pick<StoredObject, "key">): boolean => key.endsWith(".log.gz");

/**
 * Whether an object may contain records of the period. The key of a flow log contains the start of its interval. For
 * any other key only the time of writing is known, and all records are older than that.
 */
export function canMatter(
  { key, lastModified }: Pick<StoredObject, "key" | "lastModified">,
  { since, until }: Period,
): boolean {
  const begin = beginOf(key);
  if (begin === undefined) return since === undefined || !(lastModified + MARGIN_MS < since);
  if (since !== undefined && begin + ROTATION_MS + MARGIN_MS < since) return false;
  return until === undefined || begin - MARGIN_MS <= until;
}

/** The time in a key such as `…-20260301T100000Z.log.gz`. */
function beginOf(key: string): number | undefined {
  const parts = /-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.log\.gz$/.exec(key);
  if (!parts) return undefined;
  const [, year, month, day, hour, minute, second] = parts;
  const begin = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(begin) ? undefined : begin;
}
