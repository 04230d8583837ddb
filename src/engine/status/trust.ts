import type { KubeObject } from "../../kube/resource.ts";
import { createSlot } from "../../runtime/memo.ts";
import type { Verdict } from "../../runtime/signer.ts";

/** The parts of a status that are signed apart: an edit of one voids no other. */
export const GROUPS = ["claim", "request", "facts"] as const;
export type Group = (typeof GROUPS)[number];

/** What of an object's own words counts. Judged where the object enters its store, and kept with it. */
export interface Trust extends Readonly<Record<Group, Verdict>> {
  readonly annotations: Readonly<Record<string, Verdict>>;
  /** Whether the status counts as a whole, and is signed with the key that signs now; whether the annotations are. */
  readonly current: { readonly status: boolean; readonly marks: boolean };
  /** Id of the resource that the object names by a key that is not here, as far as it names one. */
  readonly named: string | undefined;
  /** The keys that it was judged with. */
  readonly by: readonly string[];
}

/** Where the verdict on an object is kept. One without a verdict is not the engine's to judge: it counts as it is. */
export const trust = createSlot<KubeObject, Trust>();

/** What an object says by a key that is not here: nothing is concluded from it, and nothing is done until the key is back. */
export function unknownKey(object: KubeObject): { id: string | undefined } | undefined {
  const { claim, request, annotations = {}, named } = trust.get(object) ?? {};
  return [claim, request, ...Object.values(annotations)].includes("foreign") ? { id: named } : undefined;
}

/** An annotation of the operator's, when it counts. */
export function countedAnnotation(object: KubeObject, name: string): string | undefined {
  const verdict = trust.get(object)?.annotations[name] ?? "ours";
  return verdict === "ours" ? object.metadata.annotations?.[name] : undefined;
}
