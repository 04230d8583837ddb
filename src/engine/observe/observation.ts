import type { Deletion } from "../../platform/products/requests.ts";
import type { Memory } from "../state/memory.ts";
import { judge } from "../state/presence.ts";
import type { Shared } from "./collections.ts";
import type { Deps } from "./deps.ts";
import type { Observation } from "./view.ts";

/** What the collection shows of a claimed resource, and what follows if it does not show it. */
export function observeResource(
  { collection, source }: Shared,
  identity: string,
  { absence: facts }: Memory,
  settings: Deps["settings"],
): Observation {
  const { item, asOf } = collection.read(identity);
  if (item && asOf !== undefined) {
    const busy = source.isBusy(item);
    const broken = source.failure?.(item);
    const found = { asOf, busy, state: item.state ?? "", comparison: undefined };
    return { seen: "present", ...found, ...(broken !== undefined && !busy && { broken }) };
  }
  if (asOf === undefined && !collection.gone) {
    return { seen: "unknown", ...(collection.isTooLarge && { tooLarge: collection.problem?.message ?? "" }) };
  }
  return {
    seen: "absent",
    asOf: facts?.row?.last ?? asOf ?? 0,
    absence: judge(facts, settings),
    since: facts?.since ?? asOf ?? 0,
    logged: facts?.logged ?? false,
    ...(facts?.deletion && { deletion: inWords(facts.deletion) }),
  };
}

const inWords = ({ by, at }: Deletion): string =>
  `${by === undefined ? "" : `by ${by} `}at ${new Date(at).toISOString().slice(0, 19)}Z`;
