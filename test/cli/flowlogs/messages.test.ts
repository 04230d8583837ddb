import { expect, it } from "vitest";
import { messagesTo } from "../../../src/cli/flowlogs/messages.ts";

const totals = { objects: 3, records: 1_000_000, matched: 1, badLines: 0, badObjects: 0, incomplete: 0 };
const clear = "\r\x1b[K";
const summary = "3 objects, 1,000,000 records (1 matched), 0 bad lines, 0 incomplete intervals\n";

function said(isTTY: boolean): string {
  let text = "";
  let now = 0;
  const stream = { isTTY, write: (chunk: string) => (text += chunk) };
  const messages = messagesTo(stream, { progress: true, monotonic: () => now });
  messages.progress(totals);
  now += 100;
  messages.progress(totals);
  messages.badLine("web\n.log.gz", 7, "0 fields instead of 14");
  now += 100;
  messages.progress(totals);
  messages.clear();
  messages.summary(totals);
  return text;
}

it("progress is one line of a terminal, a few times a second, in nobody's way", () => {
  const progress = `${clear}reading … 3 objects, 1,000,000 records`;
  expect(said(true)).toBe(`${progress}${clear}web?.log.gz:7: 0 fields instead of 14\n${progress}${clear}${summary}`);
});

it("there is no progress elsewhere", () => {
  expect(said(false)).toBe(`web?.log.gz:7: 0 fields instead of 14\n${summary}`);
});
