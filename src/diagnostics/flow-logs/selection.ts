import type { StoredObject } from "./listing.ts";

/** A span of time in milliseconds since the epoch, open on either side. */
export interface Period {
  since?: number | undefined;
  until?: number | undefined;
}

/** Objects are rotated every ten minutes; what is late or early by the platform's clocks is within the margin. */
const ROTATION_MS = 600_000;
const MARGIN_MS = 60_000;

/** Flow logs are published as gzip text; whatever else lies in the bucket is not ours. */
export const isFlowLog = ({ key }: StoredObject): boolean => key.endsWith(".log.gz");

/**
 * Whether an object can hold records of the period. Its key carries when its interval began; of another key only the
 * time of writing is known, before which all of its records ended.
 */
export function canMatter({ key, lastModified }: StoredObject, { since, until }: Period): boolean {
  const begin = beginOf(key);
  if (begin === undefined) return since === undefined || !(lastModified + MARGIN_MS < since);
  if (since !== undefined && begin + ROTATION_MS + MARGIN_MS < since) return false;
  return until === undefined || begin - MARGIN_MS <= until;
}

/** `…-20260301T100000Z.log.gz` */
function beginOf(key: string): number | undefined {
  const parts = /-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.log\.gz$/.exec(key);
  if (!parts) return undefined;
  const [, year, month, day, hour, minute, second] = parts;
  const begin = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(begin) ? undefined : begin;
}
