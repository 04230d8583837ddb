import { needsPerson, type Reason, reasons } from "../../engine/schema/reasons.ts";
import { command } from "../frame/command.ts";
import { outputFlag, UsageError } from "../frame/flags.ts";
import { wrapped } from "../frame/help.ts";
import { bold } from "../frame/text.ts";

const names = Object.keys(reasons).sort();
const isReason = (name: string): name is Reason => Object.hasOwn(reasons, name);

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
  flags: outputFlag("table", "json", "yaml"),
  completes: names,
  async run({ args: [asked, ...more], screen }) {
    if (more.length > 0) throw new UsageError(`one reason at a time: unexpected "${more[0]}"`);
    if (asked === undefined) {
      const all = names.filter(isReason).map(pageOf);
      screen.answer({ items: all }, () =>
        screen.table(
          ["REASON", "WHO ACTS", "MEANING"],
          all.map(({ reason, acts, meaning }) => [reason, acts, meaning]),
        ),
      );
      return 0;
    }
    const reason = names.find((name) => name.toLowerCase() === asked.toLowerCase());
    if (reason === undefined || !isReason(reason)) {
      throw new UsageError(`there is no reason "${asked}"${nearest(asked)}; "mooring explain" lists all`);
    }
    const page = pageOf(reason);
    screen.answer(page, () => {
      screen.line(bold(page.reason));
      for (const line of wrapped(page.meaning, 100)) screen.line(line);
      screen.line("");
      screen.line(
        page.acts === "you"
          ? "The object is Stalled until somebody acts."
          : "The object is Reconciling: it waits, and the operator goes on by itself.",
      );
      screen.line(`Page: ${page.page}`);
    });
    return 0;
  },
});

/** What a reason means, what to do, and who has to act. */
export const pageOf = (reason: Reason) => ({
  reason,
  acts: needsPerson(reason) ? ("you" as const) : ("operator" as const),
  meaning: reasons[reason],
  page: `docs/reference/reasons.md#${reason.toLowerCase()}`,
});

function nearest(asked: string): string {
  const wanted = asked.toLowerCase();
  const like = names.filter((name) => name.toLowerCase().includes(wanted) || wanted.includes(name.toLowerCase()));
  return like.length === 0 ? "" : `; did you mean ${like.slice(0, 4).join(", ")}`;
}
