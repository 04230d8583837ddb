import { z } from "zod";
import { showing } from "../store/shown.ts";

/** What everything has in common that a product with a host name of its own manages. */
const life = {
  id: z.string(),
  state: z.enum(["PROVISIONING", "AVAILABLE", "DESTROYING", "FAILED"]),
  /** Why it is FAILED, or is going to be. */
  failure: z.string().nullable(),
  /** When PROVISIONING or DESTROYING ends. */
  dueAt: z.number(),
  createdAt: z.number(),
  createdBy: z.string(),
  modifiedAt: z.number(),
  modifiedBy: z.string(),
  ...showing,
};

const lifeSchema = z.object(life);
export type Life = Readonly<z.infer<typeof lifeSchema>>;

/** One of them: its life, and what its kind knows of it. */
export type Row<F> = Life & { readonly own: F };

export const rowSchema = <F>(own: z.ZodType<F>) => z.object({ ...life, own });
