import { z } from "zod";
import { metrics } from "./properties.ts";

const amount = z.number().min(0);
const seconds = z.number().positive();

export const shapeSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("constant"), value: amount }),
  /** Stays at `to` once it is there. */
  z.object({ type: z.literal("ramp"), from: amount, to: amount, seconds }),
  /** Swings around the mean, never below zero. */
  z.object({ type: z.literal("sine"), mean: amount, amplitude: amount, seconds }),
]);

/** A load of one metric, on one group or on all. */
export const loadSchema = z.object({
  /** null: every group that has no load of its own for this metric. */
  groupId: z.string().nullable(),
  metric: z.enum(metrics),
  shape: shapeSchema,
  /** true: the replicas share it. Otherwise each of them shows it in full. */
  shared: z.boolean(),
  since: z.number(),
});

export type Load = Readonly<z.infer<typeof loadSchema>>;

export const loadKey = ({ groupId, metric }: Pick<Load, "groupId" | "metric">) => `${groupId ?? "*"}/${metric}`;
