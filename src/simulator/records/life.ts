import { z } from "zod";
import { showing, stamps } from "../store/shown.ts";

/** The columns that every row of a managed service has. */
export const life = {
  id: z.string(),
  /** DEPLOYING is the name of PROVISIONING in event streaming. */
  state: z.enum(["PROVISIONING", "DEPLOYING", "AVAILABLE", "DESTROYING", "FAILED"]),
  /** Why it is FAILED, or is going to be. */
  failure: z.string().nullable(),
  /** When the present operation ends; with brokers behind it, at the earliest. */
  dueAt: z.number(),
  ...stamps,
  ...showing,
};

const lifeSchema = z.object(life);
export type Life = Readonly<z.infer<typeof lifeSchema>>;

/** A row: the columns of every row, and the fields of its kind. */
export type Row<F> = Life & F;

/** The fields of a kind that keeps them in one column. */
export interface Own<T> {
  readonly own: T;
}

export const rowSchema = <T>(own: z.ZodType<T>) => z.object({ ...life, own });

/** The progress of an operation outside the API. */
export type Progress = { kind: "pending" } | { kind: "done" } | { kind: "failed"; message: string };
