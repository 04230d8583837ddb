import type { KubeObject } from "../resource.ts";

/** The resourceVersion of an object; "" when it has none, which is older than any other. */
export const versionOf = (object: KubeObject): string => object.metadata.resourceVersion ?? "";

/**
 * Compares two resourceVersions: negative when `a` is older, 0 when equal, positive when newer. They are decimal integers
 * without leading zeros, and may be too large for an exact number.
 */
export function compareVersions(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : a > b ? 1 : 0;
}
