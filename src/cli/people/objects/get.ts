import { allObjects, type MooringObject, objectNamed, summaryOf } from "../../../diagnostics/objects.ts";
import { readStatus } from "../../../engine/status/status.ts";
import { command, FOUND } from "../../frame/command.ts";
import {
  clusterFlags,
  everywhereFlag,
  exitCodeFlag,
  selectorFlag,
  UsageError,
  usualOutput,
} from "../../frame/flags.ts";
import { red, type Text } from "../../frame/text.ts";
import { knownKind, objectsIn } from "./object-args.ts";
import { age, painted, statuses, statusOf } from "./words.ts";

export const get = command({
  name: "get",
  summary: "objects of all kinds in one table, problems first",
  usage: ["[KIND[,KIND…]] [OPTION…]", "KIND/NAME… [OPTION…]"],
  description:
    "Lists objects of all kinds, or of some, in one table: Stalled first, then Reconciling, Paused and Ready.",
  examples: [
    ["mooring get", "all objects of the namespace, problems first"],
    ["mooring get -A --not-ready", "all objects of the cluster that are not Ready"],
    ["mooring get servers,volumes -l app=shop -o wide", "some kinds, with ids and messages"],
  ],
  flags: {
    ...clusterFlags,
    ...everywhereFlag,
    ...selectorFlag,
    "not-ready": { type: "boolean", help: "only objects that are not Ready" },
    ...usualOutput,
    ...exitCodeFlag,
  },
  exitCodes: { 3: "with --exit-code: something is not Ready" },
  completes: "object",
  async run({ args, flags, sources, namespace, answer, screen }) {
    const all = await chosen();
    const notReady = all.filter((each) => statusOf(each) !== "Ready");
    const shown = sorted(flags.on("not-ready") ? notReady : all);
    answer({ items: shown.map((each) => ({ ...summaryOf(each), status: statusOf(each) })), total: all.length }, () => {
      const wide = screen.format === "wide";
      const table = tableOf(shown, { now: sources.now(), namespaces: flags.on("all-namespaces"), wide });
      if (shown.length > 0) screen.table(table.heads, table.rows);
      else screen.note(all.length > 0 ? `all ${all.length} objects are Ready` : "no objects found");
    });
    return flags.on("exit-code") && notReady.length > 0 ? FOUND : 0;

    async function chosen(): Promise<MooringObject[]> {
      const [first, ...more] = args;
      if (first?.includes("/") || more.length > 0) {
        if (flags.text("selector") !== undefined) throw new UsageError("name objects, or use -l");
        const cluster = await sources.cluster();
        const asked = objectsIn(args, flags.text("namespace"));
        return Promise.all(asked.map((each) => objectNamed(cluster, each, sources.signal)));
      }
      const kinds = first?.split(",").map(knownKind);
      return [...(await allObjects(sources, await namespace(), kinds, flags.text("selector"))).values()];
    }
  },
});

/** Problems first: Stalled, Reconciling, Paused, Ready; then by kind and name. */
function sorted(objects: Iterable<MooringObject>): MooringObject[] {
  const rank = (each: MooringObject) => statuses.indexOf(statusOf(each));
  return [...objects].sort((a, b) => rank(a) - rank(b) || a.key.localeCompare(b.key));
}

/** A table of objects of any kinds. */
function tableOf(
  objects: readonly MooringObject[],
  { now, namespaces, wide }: { now: number; namespaces: boolean; wide: boolean },
): { heads: string[]; rows: Text[][] } {
  const heads = [
    ...(namespaces ? ["NAMESPACE"] : []),
    "KIND",
    "NAME",
    "STATUS",
    "REASON",
    "STATE",
    "AGE",
    ...(wide ? ["ID", "ACCOUNT"] : []),
    "MESSAGE",
  ];
  const rows = objects.map((each) => {
    const { kind, namespace = "", name, reason, message, state = "", id = "", created } = summaryOf(each);
    const status = statusOf(each);
    const { account = "" } = readStatus(each.object);
    return [
      ...(namespaces ? [namespace] : []),
      kind,
      name,
      painted(status, status),
      reason,
      state,
      age(created, now),
      ...(wide ? [id, account] : []),
      // The message of a Ready object is only for -o wide.
      wide || status !== "Ready" ? (status === "Stalled" ? red(message) : message) : "",
    ];
  });
  return { heads, rows };
}
