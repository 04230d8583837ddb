import { z } from "zod";
import type { KubeObject } from "../resource.ts";

/** One of the conditions that kubectl, Flux, Argo CD and Helm read. */
export const condition = z.object({
  type: z
    .string()
    .max(316)
    .describe("Type of the condition: Ready, Reconciling, Stalled, Paused, or ClockSkew of an Account."),
  status: z.enum(["True", "False", "Unknown"]).describe("Status of the condition."),
  reason: z.string().max(1024).describe("Reason for the status, one word."),
  message: z.string().max(32_768).describe("Human-readable message, with the way out."),
  lastTransitionTime: z.iso
    .datetime()
    .optional()
    .describe("When the status last changed. Absent before the operator has seen the object."),
  observedGeneration: z.int().optional().describe("Generation of the object that the condition was set for."),
});
export type Condition = z.output<typeof condition>;

/** The readiness of an object; each mode is one set of conditions. */
export interface ReadyState {
  mode: "ready" | "reconciling" | "stalled";
  reason: string;
  message: string;
}

/**
 * Conditions as kstatus reads them: Ready always, Reconciling and Stalled only while they are true. lastTransitionTime changes
 * only with the status of its condition.
 */
export function conditionsOf(
  before: readonly Condition[],
  observedGeneration: number,
  now: number,
  { mode, reason, message: full }: ReadyState,
): Condition[] {
  const message = full.slice(0, 4096);
  const make = maker(before, observedGeneration, now, { reason, message });
  switch (mode) {
    case "ready":
      return [make("Ready", "True")];
    case "reconciling":
      return [make("Ready", "False"), make("Reconciling", "True")];
    case "stalled":
      return [make("Ready", "False"), make("Stalled", "True")];
  }
}

/** Why an object that is being deleted is Stalled; undefined if it is not. */
export function stalledDeletion({ metadata, status }: KubeObject): string | undefined {
  const { conditions } = Object(status) as { conditions?: Condition[] };
  if (metadata.deletionTimestamp === undefined || !Array.isArray(conditions)) return undefined;
  return conditions.find((each) => each.type === "Stalled" && each.status === "True")?.reason;
}

/** Adds a condition that is independent of Ready. `before`: the previous conditions. */
export function withCondition(
  conditions: readonly Condition[],
  before: readonly Condition[],
  observedGeneration: number,
  now: number,
  { type, ...why }: Pick<Condition, "type" | "reason" | "message">,
): Condition[] {
  const added = maker(before, observedGeneration, now, why)(type, "True");
  return [...conditions.filter((each) => each.type !== type), added];
}

function maker(
  before: readonly Condition[],
  observedGeneration: number,
  now: number,
  why: Pick<Condition, "reason" | "message">,
) {
  return (type: string, status: "True" | "False"): Condition => {
    const old = before.find((each) => each.type === type && each.status === status);
    const since = `${new Date(now).toISOString().slice(0, 19)}Z`;
    return { type, status, ...why, observedGeneration, lastTransitionTime: old?.lastTransitionTime ?? since };
  };
}
