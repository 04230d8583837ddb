import { orphanReport } from "../../../diagnostics/orphans.ts";
import { command, FOUND } from "../../frame/command.ts";
import { clusterFlags, exitCodeFlag, platformFlags, usualOutput } from "../../frame/flags.ts";
import { bold, yellow } from "../../frame/text.ts";
import { age } from "../objects/words.ts";

const MOST_USERS = 2;
const inShort = (all: readonly string[], most: number): string =>
  all.slice(0, most).join(", ") + (all.length > most ? ` and ${all.length - most} more` : "");

export const orphans = command({
  name: "orphans",
  summary: "resources on the platform without an object, with age, price and what to do",
  usage: ["[--account NAME] [OPTION…]"],
  description:
    "Reads the whole contract and compares it with the objects of all namespaces that you may read: lists resources without an object, and objects whose resource is gone. A resource without an object of its own that an object names, or whose resource is in it, is listed apart with its users: do not delete it. So is a resource that another cluster has created: operators label what they create with the name of their cluster. Other users' resources are listed as well: created-by shows their owner.",
  examples: [
    ["mooring orphans", "what costs money without an object"],
    [
      "mooring orphans -o wide",
      "the same with how to adopt and how to delete each one; none in use is offered for deletion",
    ],
  ],
  flags: { ...clusterFlags, ...platformFlags, ...usualOutput, ...exitCodeFlag },
  exitCodes: { 3: "with --exit-code: there are orphans" },
  async run({ flags, sources, answer, screen, missing }) {
    const found = await orphanReport(sources);
    const { without_object: orphaned, in_use: used, of_other_clusters: others, currency = "" } = found;
    const { without_resource: withoutResource } = found;
    answer(found, () => {
      const wide = screen.format === "wide";
      const heads = ["KIND", "NAME", "ID", "DATACENTER", "AGE", "CREATED BY", `${currency} A MONTH`.trim()];
      const price = (per: number | undefined) => (per === undefined || per === 0 ? "" : per.toFixed(2));
      const cellsOf = (each: (typeof orphaned | typeof used | typeof others)[number]) => [
        each.kind,
        each.name ?? "",
        each.id,
        each.datacenter ?? "",
        age(each.created, sources.now()),
        each.created_by ?? "",
        price("per_month" in each ? each.per_month : undefined),
      ];
      if (orphaned.length > 0) {
        screen.line(bold("Resources without an object"));
        screen.table(
          [...heads, ...(wide ? ["ADOPT", "DELETE"] : [])],
          orphaned.map((each) => [...cellsOf(each), ...(wide ? [each.take_over, each.delete] : [])]),
        );
        screen.line(
          "to keep one, adopt it: an object of its kind with spec.externalId; -o wide shows the way for each",
        );
      } else screen.line(`no orphans: ${found.checked.length} kinds checked`);
      if (used.length > 0) {
        screen.line(bold("Resources without an object of their own, in use: do not delete them"));
        screen.table(
          [...heads, "USED BY", ...(wide ? ["ADOPT"] : [])],
          used.map((each) => [
            ...cellsOf(each),
            inShort(each.used_by, wide ? each.used_by.length : MOST_USERS),
            ...(wide ? [each.take_over] : []),
          ]),
        );
      }
      if (others.length > 0) {
        screen.line(bold("Resources that other clusters have created: they may have objects there"));
        screen.table(
          [...heads, "OF CLUSTER", ...(wide ? ["ADOPT"] : [])],
          others.map((each) => [...cellsOf(each), each.cluster, ...(wide ? [each.take_over] : [])]),
        );
        if (!found.own_cluster_known)
          screen.note(
            yellow("the name of this cluster is unknown, so its own resources may be among these: "),
            "no Account that you may read shows it",
          );
      }
      if (withoutResource.length > 0) screen.line(bold("Objects whose resource is gone"));
      for (const { object, id } of withoutResource) screen.line("  ", object, `  ${id}`);
      for (const { kind, why } of found.not_checked) screen.note(yellow("not checked: "), `${kind}: ${why}`);
      // A resource may belong to an object that the caller may not read.
      if (missing.length > 0)
        screen.note(yellow("objects that you may not read count as absent, so their resources are listed as well"));
    });
    return flags.on("exit-code") && orphaned.length + withoutResource.length > 0 ? FOUND : 0;
  },
});
