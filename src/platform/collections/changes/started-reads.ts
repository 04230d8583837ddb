import { NotFound, PlatformError } from "../../answers/errors.ts";
import { retryGap } from "../poll-intervals.ts";
import { createMemberReads, type MemberRead } from "./member-reads.ts";
import type { ChangeTrackerOptions, Tracked } from "./tracked.ts";
import type { TrackedMembers } from "./tracked-members.ts";

/**
 * The reads of tracked members, apart from lists: never two of one member at a time. When a read ends, it settles the member,
 * notifies the owner of news, and sets the time of the next read. A failed read is repeated with backoff.
 */
export interface StartedReads {
  /** Reads the member and, if that is not enough, its request. */
  start(id: string, entry: Tracked): void;
  /** Reads the request and, when it has ended, the member. */
  startRequest(id: string, entry: Tracked): void;
  /** Checks deletions whose members a list has missed, all in one call. */
  startDeletions(missing: readonly [string, Tracked][]): void;
}

const unknownRequestLimit = 3;

export function createStartedReads(options: ChangeTrackerOptions, tracked: TrackedMembers): StartedReads {
  const { clock, random, busyMs, source, signal } = options;
  const { readChange, readRequest, end } = createMemberReads(options);
  /** The change may be untracked, or another one may have begun, while it is read. */
  const isTracked = (id: string, entry: Tracked) => tracked.all.get(id) === entry;

  /** Puts off the next read after a failure. True when the failure shows that the request has ended. */
  const putOff = (entry: Tracked, error: unknown): boolean => {
    entry.failures += 1;
    const gap = error instanceof PlatformError ? retryGap(error, entry.failures, random, options) : busyMs;
    entry.readDueAt = clock.monotonic() + gap;
    if (!(error instanceof NotFound) || entry.failures < unknownRequestLimit) return false;
    // The platform keeps requests for a limited time. A request that it no longer knows has ended.
    entry.url = undefined;
    entry.request = { status: "DONE", targets: [], knownAt: clock.monotonic() };
    return true;
  };

  const run = async (id: string, entry: Tracked, read: MemberRead) => {
    entry.isReading = true;
    let news = false;
    try {
      news = await read(id, entry);
      entry.failures = 0;
      entry.readDueAt = tracked.readAfter(entry, clock.monotonic());
      if (isTracked(id, entry) && tracked.settle(id, entry)) news = true;
    } catch (error) {
      if (putOff(entry, error)) news = true;
    }
    entry.isReading = false;
    if (signal.aborted || !isTracked(id, entry)) return;
    if (news || entry.asked) options.changed([id]);
    entry.asked = false;
    options.moved();
  };

  const readDeletions = async (missing: readonly [string, Tracked][]) => {
    const since = Math.min(...missing.map(([, { change }]) => change.since));
    for (const [, entry] of missing) entry.isReading = true;
    // If the call fails, the next list triggers it again.
    const states = await source.deletions?.(since, signal).catch(() => undefined);
    if (signal.aborted) return;
    const done: string[] = [];
    for (const [id, entry] of missing) {
      entry.isReading = false;
      const requestId = /\/requests\/([^/]+)\/status/.exec(entry.url ?? "")?.[1] ?? "";
      const state = states?.get(requestId);
      if (!isTracked(id, entry)) continue;
      if (state?.status === "DONE") {
        end(id, entry, state);
        if (tracked.settle(id, entry)) done.push(id);
      }
      // The reason of a failure is only in the status of that request.
      else if (state?.status === "FAILED" || entry.asked) void run(id, entry, readRequest);
    }
    if (done.length > 0) options.changed(done);
    options.moved();
  };

  return {
    start: (id, entry) => void run(id, entry, readChange),
    startRequest: (id, entry) => void run(id, entry, readRequest),
    startDeletions: (missing) => void readDeletions(missing),
  };
}
