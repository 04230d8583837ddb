import { costs } from "../../../diagnostics/overview/costs.ts";
import { type Grouping, groupings } from "../../../diagnostics/overview/groupings.ts";
import { command } from "../../frame/command.ts";
import { clusterFlags, everywhereFlag, platformFlags, selectorFlag, usualOutput } from "../../frame/flags.ts";
import { bold, grey, yellow } from "../../frame/text.ts";

const isGrouping = (text: string | undefined): text is Grouping => groupings.some((each) => each === text);

export const cost = command({
  name: "cost",
  summary: "what objects cost per month, by namespace, owner or kind",
  usage: ["[-A] [--by namespace|owner|kind] [OPTION…]"],
  description:
    "Adds up what the resources of objects cost per month by the price catalogue of their contract. The owner is the controller of an object, else the Flux, Helm or Argo CD application that applied it.",
  examples: [
    ["mooring cost -A", "per namespace"],
    ["mooring cost -A --by owner", "per application"],
    ["mooring cost -o wide", "with each object"],
  ],
  flags: {
    ...clusterFlags,
    ...everywhereFlag,
    ...selectorFlag,
    ...platformFlags,
    by: { type: "string", value: "WHAT", default: "namespace", choices: groupings, help: groupings.join(", ") },
    ...usualOutput,
  },
  async run({ flags, sources, platform, namespace, answer, screen }) {
    const named = flags.text("by");
    const by = isGrouping(named) ? named : "namespace";
    const account = flags.text("account");
    const found = await costs(
      sources,
      { namespace: await namespace(), selector: flags.text("selector"), by },
      account === undefined ? platform : undefined,
    );
    const money = (amount: number) => `${amount.toFixed(2)} ${found.currency}`;
    const shown = (isPriced: boolean, amount: number) => (isPriced ? money(amount) : grey("not priced"));
    answer(found, () => {
      screen.table(
        [by.toUpperCase(), "OBJECTS", "A MONTH"],
        found.groups.map(({ name, objects, priced, per_month }) => [name, String(objects), shown(priced, per_month)]),
      );
      if (screen.format === "wide") {
        screen.line("");
        screen.table(
          ["OBJECT", "A MONTH"],
          found.items.map(({ object, per_month, priced }) => [object, shown(priced, per_month)]),
        );
      }
      screen.line(bold(`total ${money(found.per_month)} a month`));
      if (found.not_priced.length > 0) screen.note(yellow("not priced: "), found.not_priced.join(", "));
      screen.note(grey(found.basis));
      for (const each of found.not_checked ?? []) screen.note(yellow("not checked: "), each);
    });
    return 0;
  },
});
