import type { KubeObject } from "../../kube/resource.ts";
import { createSlot } from "../../runtime/memo.ts";
import type { Verdict } from "../../runtime/signer.ts";

/** The parts of a status that are signed apart: an edit of one voids no other. */
export const GROUPS = ["claim", "request", "facts"] as const;
export type Group = (typeof GROUPS)[number];

/** The verdicts on the signatures of an object. They are made when it enters its store, and stay with it. */
export interface Trust extends Readonly<Record<Group, Verdict>> {
  readonly annotations: Readonly<Record<string, Verdict>>;
  /** Whether all of the status counts and is signed with the current key, and whether the annotations are. */
  readonly current: { readonly status: boolean; readonly marks: boolean };
  /** Id of the resource that the object names, signed or not. */
  readonly named: string | undefined;
  /** The newer status that was known before, if the object came back with an older one: it counts instead. */
  readonly instead?: unknown;
  /** The signing keys that it was judged with. */
  readonly by: readonly string[];
}

/** The verdict of each object. Without a verdict, everything in an object counts. */
export const trust = createSlot<KubeObject, Trust>();

/** Defined for an object that is signed with an unknown key: nothing is done with it until the key is back. */
export function unknownKey(object: KubeObject): { id: string | undefined } | undefined {
  const { claim, request, annotations = {}, named } = trust.get(object) ?? {};
  return [claim, request, ...Object.values(annotations)].includes("foreign") ? { id: named } : undefined;
}

/** The value of an annotation, if it counts. */
export function countedAnnotation(object: KubeObject, name: string): string | undefined {
  const verdict = trust.get(object)?.annotations[name] ?? "ours";
  return verdict === "ours" ? object.metadata.annotations?.[name] : undefined;
}
