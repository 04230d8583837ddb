import type { Deletion } from "../../platform/products/requests.ts";
import type { Claim } from "./intent.ts";

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
 * An answer that is not understood, a list that fails, a list that lacks many at once and a pause between two answers that is
 * too long interrupt: the time begins anew.
 */
export type Absence = "unseen" | "leaving" | "missing" | "deleted";

/** What is known of a claimed resource that is not seen. Times are monotonic. */
export interface AbsenceFacts {
  /** When it was first missed. */
  readonly since: number;
  /** The first and the last of the credible answers in a row that did not have it. */
  readonly row?: { readonly since: number; readonly last: number } | undefined;
  /** What the logs say about its deletion. */
  readonly deletion?: Deletion | undefined;
  /** A log was read that would tell of its deletion. */
  readonly logged: boolean;
}

/** Two answers that are further apart belong to different rows: nobody knows what was in between. */
const LONGEST_GAP_MS = 180_000;

/** One answer to the question whether the resource is there; all that it says is that it does not show it. */
export interface Miss {
  at: number;
  /** The platform itself answered, the list is complete, and what else there is was shown. */
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

/** Answers were missing or not understood: what was known of absence counts no more. */
export const interrupted = (before: AbsenceFacts | undefined): AbsenceFacts | undefined =>
  before && { since: before.since, deletion: before.deletion, logged: before.logged };

export function judge(facts: AbsenceFacts | undefined, { missingMs }: { missingMs: number }): Absence {
  if (facts?.deletion?.status === "DONE") return "deleted";
  if (facts?.deletion?.status === "BUSY") return "leaving";
  if (!facts?.row || facts.row.last - facts.row.since < missingMs) return "unseen";
  return facts.deletion?.status === "UNKNOWN" ? "deleted" : "missing";
}

/** Whether nothing is there any more, or may be taken for gone. */
export const isOver = (absence: Absence): boolean => absence === "deleted" || absence === "missing";

/** Until then what was accepted may stay invisible: a look that does not show it proves nothing. */
export const mayBeHidden = (acceptedAt: number, lookedAt: number, believedMs: number): boolean =>
  lookedAt < acceptedAt + believedMs;

/** What a claim says about where its resource is. */
export interface Whereabouts extends Pick<Claim, "id" | "born"> {
  /** The path of its collection. */
  collection: string;
  /** Ids of what it lies in, and goes with. */
  within: readonly string[];
  /** Its id is a number that the platform gives to another resource later. */
  reusesIds: boolean;
}

/** The deletion among these that tells most about a resource: one that is done, else one that is under way, else any. */
export function deletionOf(where: Whereabouts, deletions: readonly Deletion[]): Deletion | undefined {
  const about = deletions.filter((deletion) => concerns(where, deletion));
  const telling = (["DONE", "BUSY", "UNKNOWN"] as const).map((word) => about.find(({ status }) => status === word));
  return telling.find((each) => each !== undefined);
}

function concerns({ collection, id, born, within, reusesIds }: Whereabouts, { path, targets, at }: Deletion): boolean {
  const own = `${collection}/${encodeURIComponent(id)}`;
  // Of what it lies in: by the path, or, where the log has none, by its id.
  if (path === "" ? targets.some((target) => within.includes(target)) : own.startsWith(`${path}/`)) return true;
  // What had the number before may have been deleted, too.
  if (reusesIds) return path === own && born !== undefined && at >= Date.parse(born);
  // A path in another collection that ends with its id detaches it.
  return path === own || (targets.includes(id) && !path.endsWith(`/${id}`));
}
