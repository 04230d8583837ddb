import type { Comparison } from "../../desired.ts";
import { type Pairs, patch } from "../../fields/compare.ts";

/**
 * The changes that one PATCH of a volume makes. A volume cannot shrink: a volume that is too large is only reported.
 */
export function patchVolume(
  prefix: string,
  path: string,
  changeable: Pairs,
  [wanted, found]: readonly [wanted: number | undefined, found: number | null | undefined],
  fixed: Pairs = {},
): Comparison {
  const sized = { size: [wanted, found] } as const;
  const tooLarge = found != null && found > (wanted ?? found);
  return tooLarge
    ? patch(prefix, path, changeable, { ...fixed, ...sized })
    : patch(prefix, path, { ...changeable, ...sized }, fixed);
}
