import { type Known, summaryOf } from "../../diagnostics/objects.ts";
import { readStatus } from "../../engine/status/status.ts";
import { red, type Text } from "../frame/text.ts";
import { age, painted, standingOf, standings } from "./words.ts";

/** Problems first: Stalled, Reconciling, Paused, Ready; then by kind and name. */
export function sorted(objects: Iterable<Known>): Known[] {
  const rank = (each: Known) => standings.indexOf(standingOf(each));
  return [...objects].sort((a, b) => rank(a) - rank(b) || a.key.localeCompare(b.key));
}

/** A table of objects of any kinds. */
export function tableOf(
  objects: readonly Known[],
  { now, namespaces, wide }: { now: number; namespaces: boolean; wide: boolean },
): { heads: string[]; rows: Text[][] } {
  const heads = [
    ...(namespaces ? ["NAMESPACE"] : []),
    "KIND",
    "NAME",
    "STATUS",
    "REASON",
    "STATE",
    "AGE",
    ...(wide ? ["ID", "ACCOUNT"] : []),
    "MESSAGE",
  ];
  const rows = objects.map((each) => {
    const { kind, namespace = "", name, reason, message, state = "", id = "", created } = summaryOf(each);
    const standing = standingOf(each);
    const { account = "" } = readStatus(each.object);
    return [
      ...(namespaces ? [namespace] : []),
      kind,
      name,
      painted(standing, standing),
      reason,
      state,
      age(created, now),
      ...(wide ? [id, account] : []),
      // The message of a Ready object is only for -o wide.
      wide || standing !== "Ready" ? (standing === "Stalled" ? red(message) : message) : "",
    ];
  });
  return { heads, rows };
}
