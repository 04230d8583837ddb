import type { Operation } from "../../kinds/desired.ts";
import type { Obstacle, Reason } from "../status/reasons.ts";

export type Decision =
  /** Nothing of ours. */
  | { step: "ignore" }
  /**
   * Up to date; with `keep`, its id takes the place of its intent: it survives a backup that has no status. With an
   * `obstacle` all is well on the platform, but not what workloads are to get of it.
   */
  | { step: "rest"; keep?: boolean; obstacle?: Obstacle }
  /** Somebody has told Mooring to let it be. */
  | { step: "pause" }
  /** The platform or another object has to move first. */
  | { step: "wait"; reason: Reason; message: string; look?: Look; recheckMs?: number }
  /** Somebody has to change something; `retryMs` when time may help as well. */
  | { step: "stall"; reason: Reason; message: string; look?: Extract<Look, "member">; retryMs?: number }
  /** The request failed: write it down, then try again later. */
  | { step: "fail"; reason: Reason; message: string; gone: boolean }
  /** Look up in a catalogue of the platform what spec names. */
  | { step: "check" }
  /** Spec asks for no resource, and there is none. */
  | { step: "idle" }
  | { step: "create" }
  /** Take over an existing resource; without an id the only one there is. */
  | { step: "adopt"; id?: string }
  /** Look what is inside before it goes. */
  | { step: "inspect" }
  /** Look for what an open intent made. */
  | { step: "search" }
  | { step: "claim"; identity: string }
  /** Put the finalizer, and the open intent, back where somebody has taken them away. */
  | { step: "mark" }
  /** The resource is gone without us: let go of its id. */
  | { step: "forget" }
  | { step: "update"; operation: Operation }
  /** Make a new key for the Secret, or bring the rest of it up to date. */
  | { step: "renew" }
  | { step: "publish" }
  /** Write the Secret or ConfigMap of spec.output, and delete those that it named before. */
  | { step: "output" }
  /** Delete what came before the resource. */
  | { step: "revoke" }
  /** Find out what became of a write that got no answer. */
  | { step: "recall" }
  /** It was not executed, and never will be; or nothing of it is left to look for. */
  | { step: "retract" }
  /** Put the key of a renewal where it belongs. */
  | { step: "deliver" }
  | { step: "delete"; action: "delete" | "replace" }
  | { step: "release"; reason: Reason; message: string };

/** What to ask the platform side for while waiting: a fresh list, or this very member and its request. */
export type Look = "list" | "member";
