import { z } from "zod";

/** The lifetimes that the platform offers for a token, in seconds. */
const seconds = {
  "1h": 3600,
  "4h": 14_400,
  "1d": 86_400,
  "7d": 604_800,
  "30d": 2_592_000,
  "60d": 5_184_000,
  "90d": 7_776_000,
  "180d": 15_552_000,
  "365d": 31_536_000,
} as const;
const names = z.enum(["1h", "4h", "1d", "7d", "30d", "60d", "90d", "180d", "365d"]);
export type Lifetime = z.output<typeof names>;

export const tokenLifetime = () => names.optional();

export const lifetimeSeconds = (lifetime: Lifetime = "7d"): number => seconds[lifetime];

/** The closest lifetime, because the platform may round the two dates of a token separately. */
export function lifetimeBetween(from: string, to: string): Lifetime {
  const found = (Date.parse(to) - Date.parse(from)) / 1000;
  const distance = (name: Lifetime) => Math.abs(seconds[name] - found);
  return names.options.toSorted((a, b) => distance(a) - distance(b))[0] ?? "1h";
}
