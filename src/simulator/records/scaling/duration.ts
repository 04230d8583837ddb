import { z } from "zod";

const iso = /^P(?=.)(?:(?<days>\d+)D)?(?:T(?=\d)(?:(?<hours>\d+)H)?(?:(?<minutes>\d+)M)?(?:(?<seconds>\d+)S)?)?$/;
const short = /^(?=\d)(?:(?<hours>\d+)h)?(?:(?<minutes>\d+)m)?(?:(?<seconds>\d+)s)?$/;

/** Milliseconds of an ISO 8601 duration, or of a short form such as `120s` or `1h30m`; NaN for any other text. */
export function millisecondsOf(text: string): number {
  const parts = (iso.exec(text) ?? short.exec(text))?.groups;
  if (parts === undefined) return Number.NaN;
  const { days = 0, hours = 0, minutes = 0, seconds = 0 } = parts;
  return (((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
}

/** A duration within bounds. ISO 8601 stays as it was sent, a short form is written as ISO 8601. */
export function duration(shortest: string, longest?: string) {
  const low = millisecondsOf(shortest);
  const high = longest === undefined ? Number.POSITIVE_INFINITY : millisecondsOf(longest);
  const bounds = longest === undefined ? `at least ${shortest}` : `from ${shortest} to ${longest}`;
  return z
    .string()
    .refine((text) => millisecondsOf(text) >= low && millisecondsOf(text) <= high, {
      error: `must be an ISO 8601 duration, ${bounds}`,
    })
    .transform((text) => (iso.test(text) ? text : isoOf(millisecondsOf(text) / 1000)));
}

function isoOf(seconds: number): string {
  const part = (amount: number, unit: string) => (amount > 0 ? `${amount}${unit}` : "");
  const hours = Math.floor(seconds / 3600);
  return `PT${part(hours, "H")}${part(Math.floor(seconds / 60) % 60, "M")}${part(seconds % 60, "S")}`;
}
