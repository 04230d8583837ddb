import { expiring as expiringReport } from "../../../diagnostics/expiring.ts";
import { command, FOUND } from "../../frame/command.ts";
import {
  clusterFlags,
  everywhereFlag,
  exitCodeFlag,
  platformFlags,
  selectorFlag,
  usualOutput,
  wholeIn,
} from "../../frame/flags.ts";
import { red, yellow } from "../../frame/text.ts";

const SOON_DAYS = 7;

export const expiring = command({
  name: "expiring",
  summary: "keys, tokens and certificates that expire soon",
  usage: ["[-A] [--days N] [OPTION…]"],
  description:
    "Lists keys, tokens and certificates of objects, of the certificate manager and of the token in use that expire soon or have expired, in order of expiry.",
  examples: [
    ["mooring expiring -A", "what expires within 30 days"],
    ["mooring expiring --days 7 --exit-code", "exit with 3 if anything expires within a week"],
  ],
  flags: {
    ...clusterFlags,
    ...everywhereFlag,
    ...selectorFlag,
    ...platformFlags,
    days: { type: "string", value: "N", default: "30", help: "within so many days" },
    ...usualOutput,
    ...exitCodeFlag,
  },
  exitCodes: { 3: "with --exit-code: something expires" },
  async run({ flags, sources, namespace, answer, screen }) {
    const days = wholeIn("days", flags.text("days") ?? "", 3650);
    const found = await expiringReport(sources, {
      days,
      namespace: await namespace(),
      selector: flags.text("selector"),
    });
    answer(found, () => {
      if (found.items.length === 0) screen.line(`nothing expires within ${days} days: ${found.checked} checked`);
      else {
        const wide = screen.format === "wide";
        screen.table(
          ["EXPIRES", "DAYS", "WHAT", "OBJECT", ...(wide ? ["TO DO"] : [])],
          found.items.map(({ expires, days_left, what, object, what_to_do = "nothing: it is renewed" }) => {
            const paint = days_left < 0 ? red : days_left < SOON_DAYS ? yellow : (text: string) => text;
            return [expires, paint(String(days_left)), what, object, ...(wide ? [what_to_do] : [])];
          }),
        );
      }
      for (const each of found.not_checked ?? []) screen.note(yellow("not checked: "), each);
    });
    return flags.on("exit-code") && found.items.length > 0 ? FOUND : 0;
  },
});
