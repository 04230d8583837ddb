import { actorInWords } from "../../diagnostics/why/actors.ts";
import { explainReason, isReason, pageOf, reasonNames } from "../../diagnostics/why/reasons.ts";
import { command } from "../frame/command.ts";
import { UsageError, usualOutput } from "../frame/flags.ts";
import { wrapped } from "../frame/help.ts";
import { bold } from "../frame/text.ts";

export const explain = command({
  name: "explain",
  summary: "what a reason means and what to do",
  usage: ["[REASON] [OPTION…]"],
  description:
    "Prints the page of a reason, as conditions and Events show it; without a reason, all reasons in one line each. Needs no cluster.",
  examples: [
    ["mooring explain ReferenceNotFound", "what ReferenceNotFound means and what to do"],
    ["mooring explain", "all reasons"],
  ],
  flags: usualOutput,
  completes: reasonNames,
  async run({ args: [asked, ...more], screen }) {
    if (more.length > 0) throw new UsageError(`one reason at a time: unexpected "${more[0]}"`);
    if (asked === undefined) {
      const all = reasonNames.filter(isReason).map(pageOf);
      screen.answer({ items: all }, () =>
        screen.table(
          ["REASON", "ACTS", "MEANING"],
          all.map(({ reason, acts, meaning }) => [reason, acts, meaning]),
        ),
      );
      return 0;
    }
    const page = pageNamed(asked);
    screen.answer(page, () => {
      screen.line(bold(page.reason));
      for (const line of wrapped(page.meaning, 100)) screen.line(line);
      screen.line("");
      screen.line("acts:  ", actorInWords(page.acts));
      for (const line of wrapped(page.state.replaceAll("`", ""), 100)) screen.line(line);
      screen.line("page:  ", page.page);
    });
    return 0;
  },
});

function pageNamed(asked: string) {
  try {
    return explainReason(asked);
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : error}; "mooring explain" lists all`);
  }
}
