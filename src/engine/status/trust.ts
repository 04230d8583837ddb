import type { KubeObject } from "../../kube/resource.ts";
import { createSlot } from "../../runtime/memo.ts";
import type { Verdict } from "../../runtime/signer.ts";

/** The parts of a status that are signed apart: an edit of one voids no other. */
export const GROUPS = ["claim", "request", "facts"] as const;
export type Group = (typeof GROUPS)[number];

/** The verdict on what an object says, made where it enters its store, and kept with it. */
export interface Trust extends Readonly<Record<Group, Verdict>> {
  readonly annotations: Readonly<Record<string, Verdict>>;
  /** Whether all of the status counts and is signed with the current key, and whether the annotations are. */
  readonly current: { readonly status: boolean; readonly marks: boolean };
  /** Id of the resource that the object names, signed or not. */
  readonly named: string | undefined;
  /** The status that counts although the object has another one, which is older. */
  readonly instead?: unknown;
  /** The keys that it was judged with. */
  readonly by: readonly string[];
}

/** The verdict of each object. An object without one counts as it is. */
export const trust = createSlot<KubeObject, Trust>();

/** Set for an object that is signed with an unknown key: nothing is done with it until the key is back. */
export function unknownKey(object: KubeObject): { id: string | undefined } | undefined {
  const { claim, request, annotations = {}, named } = trust.get(object) ?? {};
  return [claim, request, ...Object.values(annotations)].includes("foreign") ? { id: named } : undefined;
}

/** The value of an annotation, if it counts. */
export function countedAnnotation(object: KubeObject, name: string): string | undefined {
  const verdict = trust.get(object)?.annotations[name] ?? "ours";
  return verdict === "ours" ? object.metadata.annotations?.[name] : undefined;
}
