import { z } from "zod";

export const intervalSchema = z.object({
  n: z.number(),
  /** What it is about: one of them is open at a time for each meter. */
  subject: z.string(),
  id: z.string(),
  name: z.string(),
  serverId: z.string().nullable(),
  datacenter: z.object({ id: z.string(), name: z.string(), location: z.string() }).nullable(),
  region: z.string(),
  ips: z.array(z.string()).readonly(),
  meterId: z.string(),
  amount: z.number(),
  from: z.number(),
  /** null: it lasts. */
  to: z.number().nullable(),
});

/** For how long there was how much of something. */
export type Interval = Readonly<z.infer<typeof intervalSchema>>;

export type Direction = "input" | "output";

/** What a contract has had since it exists, in the order it came. */
export interface Ledger {
  intervals(): Iterable<Interval>;
  /** A model has read and written so many tokens. Inside a transaction. */
  tokens(modelId: string, counts: Readonly<Record<Direction, number>>): void;
}
