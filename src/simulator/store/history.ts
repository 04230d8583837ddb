/** The commits of the last while, so that a read can be answered as things were. */
export interface History {
  /** Both leave what the commit did not touch as it is. */
  note(undo: () => void, redo: () => void): void;
  /** Reads as of that instant, or as far back as there is memory. Nothing can be written meanwhile. */
  asOf<R>(at: number, read: () => R): R;
}

/** `reach`: for how long a commit is worth remembering, in milliseconds of `now`. */
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
