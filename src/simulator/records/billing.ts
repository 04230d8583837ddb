import { z } from "zod";

export const intervalSchema = z.object({
  n: z.number(),
  /** The subject of the interval; for each meter it has one open interval at a time. */
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
  /** null: it is still in use. */
  to: z.number().nullable(),
});

/** An amount of a meter over a time. */
export type Interval = Readonly<z.infer<typeof intervalSchema>>;

export type Direction = "input" | "output";

/** The usage of a contract since it exists, in order. */
export interface Ledger {
  intervals(): Iterable<Interval>;
  /** A model has read and written so many tokens. Inside a transaction. */
  tokens(modelId: string, counts: Readonly<Record<Direction, number>>): void;
}
