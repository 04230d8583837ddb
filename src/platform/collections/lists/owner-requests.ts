import type { Clock } from "../../../runtime/clock.ts";
import { createBatchWindow } from "../batch-window.ts";
import type { Members } from "../members.ts";
import { sharedGap } from "../poll-intervals.ts";
import { soonMs } from "./list-schedule.ts";

/** The requests of owners that a list serves: lists that they requested, and members that they expect. */
export interface OwnerRequests {
  /** Since when a list is requested, and when the batch of requests is due. Undefined when a list has served all. */
  readonly refreshDue: { since: number; dueAt: number } | undefined;
  /** When the most recently expected member, which no list has shown, was first expected. */
  readonly expectedSince: number | undefined;
  /** Requests a list, and notifies these ids when it is done. */
  refresh(ids: readonly string[]): void;
  /** False when the member is expected already, or known. */
  expect(id: string): boolean;
  /** The member is no longer expected. */
  unexpect(id: string): void;
  /** The known members are no longer expected. */
  unexpectKnown(): void;
  /** A list begins. It serves all requests for one; returns whether there were any, and the ids to notify when it is done. */
  serve(): { isRefresh: boolean; toNotify: string[] };
}

export function createOwnerRequests(clock: Clock, members: Members, busyMs: number): OwnerRequests {
  const refreshes = createBatchWindow(clock, soonMs.shortest, () => sharedGap(members.size, busyMs));
  const idsToNotify = new Set<string>();
  /** Expected members, and since when. */
  const expected = new Map<string, number>();
  return {
    get refreshDue() {
      const { since } = refreshes;
      return since === undefined ? undefined : { since, dueAt: refreshes.dueAt ?? 0 };
    },
    get expectedSince() {
      return expected.size > 0 ? Math.max(...expected.values()) : undefined;
    },
    refresh(ids) {
      refreshes.add();
      for (const id of ids) idsToNotify.add(id);
    },
    expect(id) {
      if (expected.has(id) || members.item(id)) return false;
      expected.set(id, clock.monotonic());
      return true;
    },
    unexpect(id) {
      expected.delete(id);
    },
    unexpectKnown() {
      for (const id of expected.keys()) if (members.item(id)) expected.delete(id);
    },
    serve() {
      const served = { isRefresh: refreshes.since !== undefined, toNotify: [...idsToNotify] };
      idsToNotify.clear();
      refreshes.clear();
      return served;
    },
  };
}
