import { driftReport } from "../../../diagnostics/drift.ts";
import { command, FOUND } from "../../frame/command.ts";
import {
  clusterFlags,
  everywhereFlag,
  exitCodeFlag,
  platformFlags,
  selectorFlag,
  UsageError,
  usualOutput,
} from "../../frame/flags.ts";
import { yellow } from "../../frame/text.ts";
import { objectsIn } from "../objects/object-args.ts";

export const drift = command({
  name: "drift",
  summary: "objects whose resource differs from spec, field by field",
  usage: ["[-A] [-l SELECTOR] [OPTION…]", "KIND/NAME… [OPTION…]"],
  description:
    "Reads each resource through the Account of its object, and lists the fields that differ from spec. If a resource cannot be read, the drift of the last reconcile is shown.",
  examples: [
    ["mooring drift -A", "what differs, in all namespaces"],
    ["mooring drift server/web", "what differs of one Server"],
    ["mooring drift --exit-code", "exit with 3 if anything differs"],
  ],
  flags: { ...clusterFlags, ...everywhereFlag, ...selectorFlag, ...platformFlags, ...usualOutput, ...exitCodeFlag },
  exitCodes: { 3: "with --exit-code: something differs" },
  completes: "object",
  async run({ args, flags, sources, platform, namespace, answer, screen }) {
    const objects = args.length > 0 ? objectsIn(args, flags.text("namespace")) : undefined;
    const selector = flags.text("selector");
    if (objects && selector !== undefined) throw new UsageError("name an object, or use -l");
    const asked = { namespace: objects ? undefined : await namespace(), selector, objects };
    // With --account, everything is read through that one.
    const found = await driftReport(sources, asked, flags.text("account") === undefined ? platform : undefined);
    answer(found, () => {
      const wide = screen.format === "wide";
      if (found.items.length === 0) screen.line(`nothing differs: ${found.checked} objects checked`);
      else
        screen.table(
          ["NAMESPACE", "KIND", "NAME", "FIELD", "SPEC", "PLATFORM", "REASON", ...(wide ? ["MESSAGE"] : [])],
          found.items.flatMap(({ namespace: where = "", kind, name, reason, message, drift: fields }) =>
            fields.map(({ field, wanted, found: there }) => [
              where,
              kind,
              name,
              field,
              wanted,
              there,
              reason,
              ...(wide ? [message] : []),
            ]),
          ),
        );
      for (const line of inShort(found.not_checked ?? [])) screen.note(yellow("not checked: "), line);
      if (found.note !== undefined) screen.note(found.note);
    });
    return flags.on("exit-code") && found.items.length > 0 ? FOUND : 0;
  },
});

/** Texts of the form OBJECT: WHY, with one line for all objects that have the same reason. */
function inShort(texts: readonly string[]): string[] {
  const byReason = Map.groupBy(texts, (text) => text.slice(text.indexOf(": ")));
  return [...byReason].map(([why, [first = "", ...more]]) =>
    more.length === 0 ? first : `${first.slice(0, -why.length)} and ${more.length} more${why}`,
  );
}
