import { type Option, options as readOptions } from "../../../diagnostics/options/options.ts";
import { type Topic, topics } from "../../../diagnostics/options/topics.ts";
import { command } from "../../frame/command.ts";
import { clusterFlags, platformFlags, UsageError, usualOutput } from "../../frame/flags.ts";
import { bold, grey, yellow } from "../../frame/text.ts";

const isTopic = (text: string): text is Topic => topics.some((each) => each === text);

export const options = command({
  name: "options",
  summary: "valid values for spec with an Account: locations, images, templates, sizes, models",
  usage: [`[${topics.join("|")}]… [OPTION…]`],
  description:
    "Reads the platform's catalogues with an Account and lists valid values for spec, with their fields and, where there are any, monthly prices.",
  examples: [
    ["mooring options", "everything"],
    ["mooring options images --location de/txl", "images and aliases of one location"],
    ["mooring options templates models -o json", "for programs"],
  ],
  flags: {
    ...clusterFlags,
    ...platformFlags,
    location: { type: "string", value: "ID", help: "only values for this location, for example de/txl" },
    ...usualOutput,
  },
  completes: topics,
  async run({ args, flags, sources, answer, screen }) {
    const wrong = args.find((each) => !isTopic(each));
    if (wrong !== undefined) throw new UsageError(`there is no topic "${wrong}"; valid: ${topics.join(", ")}`);
    const asked = args.length > 0 ? args.filter(isTopic) : topics;
    const found = await readOptions(sources, { topics: asked, location: flags.text("location") });
    answer(found, () => {
      found.options.forEach(({ topic, field, items }, at) => {
        if (at > 0) screen.line("");
        screen.line(bold(topic), grey(`  ${field}`));
        const names = columnsOf(items, screen.format === "wide");
        const heads = names.map((name) => name.replaceAll("_", " ").toUpperCase());
        screen.table(
          heads,
          items.map((item) => names.map((name) => String(item[name] ?? ""))),
        );
      });
      for (const each of found.not_checked ?? []) screen.note(yellow("not checked: "), each);
    });
    // Nothing could be read, so there is no answer.
    return found.options.length === 0 ? 1 : 0;
  },
});

/** Ids and lists are only for -o wide. */
function columnsOf(items: readonly Option[], wide: boolean): string[] {
  const all = [...new Set(items.flatMap((item) => Object.keys(item)))];
  return wide ? all : all.filter((name) => name !== "id" && name !== "features");
}
