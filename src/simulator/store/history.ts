/** The recent commits, so that a read can be answered as of an earlier instant. */
export interface History {
  /** Adds a commit. `undo` and `redo` write only the rows of that commit. */
  note(undo: () => void, redo: () => void): void;
  /** Reads as of that instant, or as of the oldest commit kept. Nothing can be written in between. */
  asOf<R>(at: number, read: () => R): R;
}

/** `reach`: how long commits are kept, in milliseconds of `now`. */
export function createHistory(now: () => number, reach: () => number): History {
  let commits: { at: number; undo: () => void; redo: () => void }[] = [];
  return {
    note(undo, redo) {
      const at = now();
      const horizon = at - reach();
      if ((commits[0]?.at ?? at) < horizon) commits = commits.filter((commit) => commit.at >= horizon);
      if (horizon < at) commits.push({ at, undo, redo });
    },
    asOf(at, read) {
      const since = commits.filter((commit) => commit.at > at);
      for (const { undo } of since.toReversed()) undo();
      try {
        return read();
      } finally {
        for (const { redo } of since) redo();
      }
    },
  };
}
