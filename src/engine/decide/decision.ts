import type { Operation } from "../../kinds/desired.ts";
import type { Obstacle, Reason } from "../status/reasons.ts";

export type Decision =
  /** The object is released. */
  | { step: "ignore" }
  /** The resource is up to date. `keep`: the id replaces the intent in the annotations. `obstacle`: the output was not written. */
  | { step: "rest"; keep?: boolean; obstacle?: Obstacle }
  | { step: "pause" }
  /** The platform or another object has to change first. */
  | { step: "wait"; reason: Reason; message: string; look?: Look; recheckMs?: number }
  /** A person has to change something; `retryMs` if time may help too. */
  | { step: "stall"; reason: Reason; message: string; look?: Extract<Look, "member">; retryMs?: number }
  /** The request failed. It is recorded, and sent again later. `gone`: nothing was created. */
  | { step: "fail"; reason: Reason; message: string; gone: boolean }
  /** Look up the entry of a catalogue that spec names. */
  | { step: "check" }
  /** Spec asks for no resource, and there is none. */
  | { step: "idle" }
  | { step: "create" }
  /** Adopt an existing resource; without an id, the permanent one. */
  | { step: "adopt"; id?: string }
  /** Read what is inside before a deletion. */
  | { step: "inspect" }
  /** Search for the result of an open intent. */
  | { step: "search" }
  | { step: "claim"; identity: string }
  /** Put back the finalizer and the annotation of the open intent. */
  | { step: "mark" }
  /** Remove the id of a resource that is gone, or that spec no longer asks for. */
  | { step: "forget" }
  | { step: "update"; operation: Operation }
  /** Make a new key, and write it to the Secret. */
  | { step: "renew" }
  /** Write the Secret again with the same key. */
  | { step: "publish" }
  /** Write the Secret or ConfigMap of spec.output, and delete those that it named before. */
  | { step: "output" }
  /** Delete the previous resource of a successive key. */
  | { step: "revoke" }
  /** Search the log of the platform for a write that got no answer. */
  | { step: "recall" }
  /** Remove the record of a write or an intent that was certainly not executed. */
  | { step: "retract" }
  /** Write the key of a renewal to the Secret. */
  | { step: "deliver" }
  | { step: "delete"; action: "delete" | "replace" }
  | { step: "release"; reason: Reason; message: string };

/** What to read while waiting: the list, or this member and its request. */
type Look = "list" | "member";
