/** How long changes of one kind usually take, learned from the reads that showed them in progress and then at rest. */
import { pollGap } from "./poll-intervals.ts";

export type Action = "create" | "update" | "delete";

/** Most changes end in this time, in milliseconds after their begin. */
export interface UsualEnd {
  readonly from: number;
  readonly to: number;
}

export interface UsualDurations {
  /** Undefined until one such change was observed. */
  usual(action: Action): UsualEnd | undefined;
  /** A change was in progress `busyMs` after its begin, and at rest `restMs` after it. */
  learn(action: Action, busyMs: number, restMs: number): void;
}

/** The last changes count, so that a platform that became faster or slower is followed. */
const kept = 16;
/** A change that took longer tells nothing about the next one. */
const longestMs = 3_600_000;

export function createUsualDurations(): UsualDurations {
  const ends: Record<Action, number[]> = { create: [], update: [], delete: [] };
  return {
    usual(action) {
      const known = ends[action];
      if (known.length === 0) return undefined;
      const [first, last] = [Math.min(...known), Math.max(...known)];
      // The fewer changes are known, the further the next one may be outside of what they show.
      const margin = (last - first) / known.length + first / (2 * known.length);
      return { from: Math.max(0, first - margin), to: last + margin };
    },
    learn(action, busyMs, restMs) {
      if (!(busyMs >= 0 && restMs >= busyMs && restMs <= longestMs)) return;
      ends[action] = [...ends[action], (busyMs + restMs) / 2].slice(-kept);
    },
  };
}

const shortestMs = 100;
/** With a usual end, a change may cost this many reads more than without. Changes at the same time share them. */
const moreReads = 3;

/** The number of reads of a change in its first `ms` milliseconds. */
function readsWithin(ms: number, gapAt: (sinceBegin: number) => number): number {
  let reads = 0;
  for (let at = gapAt(0); at < ms; at += gapAt(at)) reads += 1;
  return reads;
}

/**
 * When to read a changing member again: milliseconds after the begin of the change, of which `sinceBegin` had passed at the last
 * read. Without a usual end, it is read at the poll interval. With one, reads before `from` are up to one `busyMs` further apart.
 * The reads that this saves, and a few more, come between `from` and `to`. After `to`, reads are further and further apart, up to
 * the poll interval.
 */
export function nextRead(sinceBegin: number, usual: UsualEnd | undefined, busyMs: number): number {
  const gapAt = (at: number) => pollGap(at, busyMs);
  const polled = sinceBegin + gapAt(sinceBegin);
  if (!usual) return polled;
  const { from, to } = usual;
  const latest = polled + busyMs;
  const pollsBefore = readsWithin(from, gapAt);
  const savedReads = pollsBefore - readsWithin(from, (at) => gapAt(at) + busyMs);
  const pollsWithin = Math.max((to - from) / gapAt(to), readsWithin(to, gapAt) - pollsBefore);
  const share = pollsWithin / (pollsWithin + savedReads + moreReads);
  const gap = Math.max(gapAt(Math.max(sinceBegin, from)) * share, shortestMs);
  if (sinceBegin < from)
    return from + gap <= latest ? from + gap : Math.min(Math.max(from, sinceBegin + shortestMs), latest);
  return Math.min(polled, sinceBegin + gap + Math.max(0, sinceBegin - to));
}

/** Kinds of changes that are known at a time; the oldest is forgotten. */
const mostKinds = 64;

/** The usual durations of each kind of resource on a connection: `/datacenters/1/servers` and `/datacenters/2/servers` are one. */
export function createDurationsByPath(): (url: string) => UsualDurations {
  const known = new Map<string, UsualDurations>();
  return (url) => {
    const kind = url.replace(/\/(\d+|[0-9a-f]{8}-[0-9a-f-]{27})(?=\/|$)/gi, "/*");
    const found = known.get(kind) ?? createUsualDurations();
    known.delete(kind);
    known.set(kind, found);
    for (const oldest of known.keys()) {
      if (known.size <= mostKinds) break;
      known.delete(oldest);
    }
    return found;
  };
}
