import { type Reason, reasons } from "../../engine/status/reasons.ts";
import { actorOf, isStalled, stateOf } from "./actors.ts";

export const isReason = (name: string): name is Reason => Object.hasOwn(reasons, name);
export const reasonNames: readonly Reason[] = Object.keys(reasons).filter(isReason).sort();

/** The description of a reason. */
export function explainReason(asked: string) {
  const reason = reasonNames.find((name) => name.toLowerCase() === asked.toLowerCase());
  if (reason === undefined) throw new Error(`there is no reason "${asked}"${nearest(asked)}`);
  return pageOf(reason);
}

export const pageOf = (reason: Reason) => ({
  reason,
  meaning: reasons[reason],
  acts: actorOf(reason),
  stalled: isStalled(reason),
  state: stateOf(reason),
  page: `docs/reference/reasons.md#${reason.toLowerCase()}`,
});

function nearest(asked: string): string {
  const wanted = asked.toLowerCase();
  const like = reasonNames.filter((name) => name.toLowerCase().includes(wanted) || wanted.includes(name.toLowerCase()));
  return like.length === 0 ? "" : `; did you mean ${like.slice(0, 4).join(", ")}`;
}
