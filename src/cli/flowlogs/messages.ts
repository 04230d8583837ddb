import type { Totals } from "../../diagnostics/flow-logs/read.ts";
import { visible } from "../../diagnostics/flow-logs/records/visible.ts";
import { humanCount, plural } from "./numbers.ts";

interface Terminal {
  isTTY?: boolean;
  write(text: string): unknown;
}

/** Messages besides the output: errors, progress and the final summary. */
export interface Messages {
  badLine(key: string, line: number, reason: string): void;
  badObject(key: string, error: Error): void;
  /** Only on a terminal: one changing line, refreshed a few times a second. */
  progress(totals: Totals): void;
  /** Removes the progress line. */
  clear(): void;
  summary(totals: Totals): void;
}

/** Maximum messages about bad lines, and about bad objects. All of them are counted. */
const MOST_REPORTED = 20;
const REFRESH_MS = 200;
const LONGEST = 500;

export function messagesTo(stream: Terminal, options: { progress: boolean; monotonic: () => number }): Messages {
  const showing = options.progress && stream.isTTY === true;
  const reported = { line: 0, object: 0 };
  let shownAt = Number.NEGATIVE_INFINITY;
  let shown = false;

  const clear = () => {
    if (shown) stream.write("\r\x1b[K");
    shown = false;
  };
  const say = (text: string) => {
    clear();
    stream.write(`${text}\n`);
  };
  const report = (what: "line" | "object", text: string) => {
    reported[what] += 1;
    if (reported[what] <= MOST_REPORTED) say(visible(text, LONGEST));
    else if (reported[what] === MOST_REPORTED + 1) say(`further bad ${what}s are only counted`);
  };
  return {
    badLine: (key, line, reason) => report("line", `${key}:${line}: ${reason}`),
    badObject: (key, { message }) => report("object", `${key}: ${message}`),
    progress({ objects, records }) {
      const now = options.monotonic();
      if (!showing || now - shownAt < REFRESH_MS) return;
      shownAt = now;
      shown = true;
      stream.write(`\r\x1b[Kreading … ${plural(objects, "object")}, ${plural(records, "record")}`);
    },
    clear,
    summary: (totals) => say(describe(totals)),
  };
}

function describe({ objects, records, matched, badLines, badObjects, incomplete }: Totals): string {
  const unreadable = badObjects > 0 ? ` (${humanCount(badObjects)} unreadable)` : "";
  const filtered = matched === records ? "" : ` (${humanCount(matched)} matched)`;
  const why = incomplete > 0 ? " (SKIPDATA: the platform has skipped records)" : "";
  return [
    plural(objects, "object") + unreadable,
    plural(records, "record") + filtered,
    plural(badLines, "bad line"),
    plural(incomplete, "incomplete interval") + why,
  ].join(", ");
}
