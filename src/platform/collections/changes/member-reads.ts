import type { RequestState } from "../reading.ts";
import { needsReason, putOffReason } from "./reasons.ts";
import {
  type CollectionReads,
  ended,
  expectsAbsence,
  hasRequest,
  isLeaving,
  miss,
  missingLists,
  type Tracked,
} from "./tracked.ts";

/** Reads a changing member, its request or both. True when there is something new. */
export type MemberRead = (id: string, entry: Tracked) => Promise<boolean>;

export interface MemberReads {
  /**
   * Reads the member, which shows whether it is at rest, as in a list. Reads its request only if that is not enough: the member
   * failed, is not found, is being deleted, or its owner asked.
   */
  readonly readChange: MemberRead;
  /** Reads the status of the request and, when it has ended, the member. */
  readonly readRequest: MemberRead;
  /** Records that the request of a change has ended. After a successful deletion, the member is gone. */
  end(id: string, entry: Tracked, state: RequestState): void;
}

export function createMemberReads(options: CollectionReads): MemberReads {
  const { clock, source, members, signal } = options;

  /** Reads a member. `news`: the cached state has changed. `isMissed`: the member was not found. */
  const readMember = async (id: string, entry: Tracked): Promise<{ news: boolean; isMissed: boolean }> => {
    const read = members.beginRead(clock.monotonic());
    const item = await source.get?.(id, signal);
    const news = !signal.aborted && members.one(read, id, item, expectsAbsence(entry));
    return { news, isMissed: item === undefined };
  };

  const readRequest: MemberRead = async (id, entry) => {
    if (entry.url !== undefined && source.requestStatus && !ended(entry)) {
      const state = await source.requestStatus(entry.url, signal);
      entry.request = { ...state, knownAt: clock.monotonic() };
      if (!ended(entry)) return false;
      const failedUnseen = entry.request.status === "FAILED" && members.item(id) === undefined;
      if (failedUnseen || !source.get) return true;
    }
    if (!source.get) return ended(entry);
    const { news, isMissed } = await readMember(id, entry);
    if (isLeaving(entry) && !hasRequest(entry, source)) {
      miss(entry, isMissed, "reads", clock.monotonic());
      const { lists = 0, reads = 0 } = entry.missed ?? {};
      if (reads > 0 && lists + reads > missingLists) end(id, entry, { status: "DONE", targets: [] });
    }
    return news || ended(entry);
  };

  const readChange: MemberRead = async (id, entry) => {
    if (!source.get || isLeaving(entry) || entry.asked) return readRequest(id, entry);
    const { news, isMissed } = await readMember(id, entry);
    if (!entry.asked && !needsReason(id, entry, isMissed, options)) return news;
    putOffReason(entry, clock);
    return readRequest(id, entry);
  };

  const end = (id: string, entry: Tracked, state: RequestState) => {
    entry.request = { ...state, knownAt: clock.monotonic() };
    if (isLeaving(entry) && state.status === "DONE") {
      members.one(members.beginRead(clock.monotonic()), id, undefined, true);
    }
  };

  return { readChange, readRequest, end };
}
