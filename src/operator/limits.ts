import { kinds } from "../kinds/index.ts";
import { type LimitOf, limitOf } from "../kube/watch/age-limits.ts";
import { count } from "../server/flags.ts";
import { UsageError } from "../server/usage-error.ts";

const valid: readonly string[] = [
  ...kinds.filter(({ scope }) => scope !== "Cluster").map(({ kind }) => kind),
  "Secret",
  "ConfigMap",
  "*",
];

/**
 * Default limits of objects per namespace, by kind. `Secret` and `ConfigMap` count those written by Mooring. `*` is the limit of
 * all other kinds.
 */
const usualLimits: Readonly<Record<string, number>> = {
  ...Object.fromEntries(kinds.flatMap(({ kind, limit }) => (limit === undefined ? [] : [[kind, limit]]))),
  "*": 10_000,
};

export const limitsInWords = Object.entries(usualLimits)
  .map(([kind, most]) => `${kind}=${most}`)
  .join(" ");

/** The default limits, overridden by those that were given. */
export function readLimits(given: readonly string[]): LimitOf {
  const read = given.map((text): [string, number] => {
    const [, kind = "", most = ""] = /^([^=]+)=(.+)$/.exec(text) ?? [];
    if (!valid.includes(kind)) {
      throw new UsageError(`--limit: "${text}" is not KIND=N with a kind of Mooring; valid: ${valid.join(", ")}`);
    }
    return [kind, count("limit", most, 0, 1_000_000)];
  });
  return limitOf({ ...usualLimits, ...Object.fromEntries(read) });
}
