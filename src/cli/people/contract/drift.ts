import { driftReport } from "../../../diagnostics/drift.ts";
import { command, FOUND } from "../../frame/command.ts";
import { clusterFlags, everywhereFlag, exitCodeFlag, selectorFlag, usualOutput } from "../../frame/flags.ts";

export const drift = command({
  name: "drift",
  summary: "objects whose resource differs from spec, field by field",
  usage: ["[-A] [-l SELECTOR] [OPTION…]"],
  description:
    "Reads each resource and lists the fields that differ from spec. If a resource cannot be read, the drift of the last reconcile is shown.",
  examples: [
    ["mooring drift -A", "what differs, in all namespaces"],
    ["mooring drift --exit-code", "exit with 3 if anything differs"],
  ],
  flags: { ...clusterFlags, ...everywhereFlag, ...selectorFlag, ...usualOutput, ...exitCodeFlag },
  exitCodes: { 3: "with --exit-code: something differs" },
  async run({ flags, sources, namespace, answer, screen }) {
    const found = await driftReport(sources, { namespace: await namespace(), selector: flags.text("selector") });
    answer(found, () => {
      if (found.items.length === 0) return screen.line(`nothing differs: ${found.checked} objects checked`);
      const wide = screen.format === "wide";
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
    });
    return flags.on("exit-code") && found.items.length > 0 ? FOUND : 0;
  },
});
