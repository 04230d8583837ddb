import { z } from "zod";

const UNITS = { d: 86_400, h: 3_600, m: 60, s: 1 } as const;
const number = "[0-9]{1,9}";
const time = (h: string, m: string, s: string) =>
  `(${number}${h}(${number}${m})?(${number}${s})?|${number}${m}(${number}${s})?|${number}${s})`;
const pattern = new RegExp(`^(P${number}D|P(${number}D)?T${time("H", "M", "S")}|${time("h", "m", "s")})$`);
const MESSAGE = "must be a duration such as PT5M or 5m";

/** A duration within bounds, in the platform's form (PT5M) or the short form (5m). */
export const duration = (least: string, most?: string) => {
  const bounds = most === undefined ? `must be at least ${least}` : `must be from ${least} to ${most}`;
  const [low = 0, high = Number.POSITIVE_INFINITY] = [secondsOf(least), secondsOf(most ?? "")];
  // CEL parses only the short form without days. The schema's own check below handles the rest.
  const length = "duration(self.lowerAscii().replace('pt', ''))";
  const within = `${length} >= duration('${least}')${most === undefined ? "" : ` && ${length} <= duration('${most}')`}`;
  const matches = `self.matches(${JSON.stringify(pattern.source)})`;
  return z
    .string()
    .max(32)
    .superRefine((text, context) => {
      const seconds = secondsOf(text);
      if (seconds === undefined) context.addIssue(MESSAGE);
      else if (seconds < low || seconds > high) context.addIssue(bounds);
    })
    .meta({
      "x-kubernetes-validations": [
        { rule: matches, message: MESSAGE },
        { rule: `!${matches} || self.contains('D') || (${within})`, message: bounds },
      ],
    });
};

/** The duration in seconds; undefined if the text is not a duration. */
export function secondsOf(text: string): number | undefined {
  if (!pattern.test(text)) return undefined;
  const parts = [...text.matchAll(/([0-9]+)([DHMS])/gi)];
  return parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * unitOf(unit), 0);
}

function unitOf(letter = ""): number {
  const lower = letter.toLowerCase();
  return lower === "d" || lower === "h" || lower === "m" ? UNITS[lower] : UNITS.s;
}

/** The canonical form of a duration, so that equal durations are equal texts. */
export function isoDuration(text: string): string {
  const seconds = secondsOf(text);
  if (seconds === undefined) return text;
  const [h, m, s] = [Math.floor(seconds / UNITS.h), Math.floor((seconds % UNITS.h) / UNITS.m), seconds % UNITS.m];
  const written = [h && `${h}H`, m && `${m}M`, s && `${s}S`].filter(Boolean).join("");
  return `PT${written || "0S"}`;
}
