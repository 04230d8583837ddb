import type { Deletion } from "../../platform/products/requests.ts";

/**
 * Is a claimed resource there that its collection does not show? This is the one place that judges it, from recorded facts.
 *
 * | Verdict   | Facts                                                                                                  |
 * |-----------|--------------------------------------------------------------------------------------------------------|
 * | `deleted` | a log of the platform has a deletion of it, or of what it lies in, that ended DONE                       |
 * |           | or it is missing, and the log has one without saying how it ended                                       |
 * | `leaving` | such a deletion is under way                                                                           |
 * | `missing` | understood answers of the platform itself did not have it for `missingMs`, without an interruption       |
 * | `unseen`  | anything else: nothing follows from it                                                                  |
 *
 * The time begins anew after an answer that is not understood, a list that fails or lacks many at once, and a long pause.
 */
export type Absence = "unseen" | "leaving" | "missing" | "deleted";

/** The facts about a claimed resource that is not seen. Times are monotonic. */
export interface AbsenceFacts {
  readonly since: number;
  /** The first and the last of the credible answers in a row that did not have it. */
  readonly row?: { readonly since: number; readonly last: number } | undefined;
  /** Its deletion in the logs of the platform. */
  readonly deletion?: Deletion | undefined;
  /** A log was read that would show its deletion. */
  readonly logged: boolean;
}

/** Two answers that are further apart do not count as a row: nobody knows what happened in between. */
const LONGEST_GAP_MS = 180_000;

/** One answer of the platform that does not show the resource. */
export interface Miss {
  at: number;
  /** The platform itself answered, with a complete list that shows the other members. */
  credible: boolean;
  logs: Pick<AbsenceFacts, "deletion" | "logged">;
}

export function missed(before: AbsenceFacts | undefined, { at, credible, logs }: Miss): AbsenceFacts {
  const { row } = before ?? {};
  const isNext = row !== undefined && at - row.last <= LONGEST_GAP_MS;
  return {
    since: before?.since ?? at,
    ...(credible && { row: { since: isNext ? row.since : at, last: at } }),
    ...logs,
  };
}

/** Answers were missing or not understood: the row is over. */
export const interrupted = (before: AbsenceFacts | undefined): AbsenceFacts | undefined =>
  before && { since: before.since, deletion: before.deletion, logged: before.logged };

export function judge(facts: AbsenceFacts | undefined, { missingMs }: { missingMs: number }): Absence {
  if (facts?.deletion?.status === "DONE") return "deleted";
  if (facts?.deletion?.status === "BUSY") return "leaving";
  if (!facts?.row || facts.row.last - facts.row.since < missingMs) return "unseen";
  return facts.deletion?.status === "UNKNOWN" ? "deleted" : "missing";
}

export const isOver = (absence: Absence): boolean => absence === "deleted" || absence === "missing";

/** Whether an accepted write may still be invisible: a read that does not show it proves nothing. */
export const mayBeHidden = (acceptedAt: number, readAt: number, believedMs: number): boolean =>
  readAt < acceptedAt + believedMs;
