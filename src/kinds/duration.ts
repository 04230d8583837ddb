import { formed } from "./fields.ts";

const forms = /^(P([0-9]+D)?(T([0-9]+H)?([0-9]+M)?([0-9]+S)?)?|([0-9]+h)?([0-9]+m)?([0-9]+s)?)$/;
const UNITS = { d: 86_400, h: 3_600, m: 60, s: 1 } as const;

/** A length of time, written as the platform does (PT5M) or as people do (5m). */
export const duration = () => formed(forms, 32, "must be a duration such as PT5M or 5m");

/** Its seconds; undefined when it is none. */
export function secondsOf(text: string): number | undefined {
  const parts = forms.test(text) ? [...text.matchAll(/([0-9]+)([DHMS])/gi)] : [];
  if (parts.length === 0) return undefined;
  return parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * unitOf(unit), 0);
}

function unitOf(letter = ""): number {
  const lower = letter.toLowerCase();
  return lower === "d" || lower === "h" || lower === "m" ? UNITS[lower] : UNITS.s;
}

/** The same length of time in one spelling: equal lengths are equal texts. */
export function isoDuration(text: string): string {
  const seconds = secondsOf(text);
  if (seconds === undefined) return text;
  const [h, m, s] = [Math.floor(seconds / UNITS.h), Math.floor((seconds % UNITS.h) / UNITS.m), seconds % UNITS.m];
  const written = [h && `${h}H`, m && `${m}M`, s && `${s}S`].filter(Boolean).join("");
  return `PT${written || "0S"}`;
}
