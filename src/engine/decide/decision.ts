import type { Operation } from "../../kinds/desired.ts";
import type { Obstacle, Reason } from "../status/reasons.ts";

/** All steps, with what each of them needs. */
interface Steps {
  /** The object is released. */
  ignore: object;
  /** Up to date. `keep`: the id replaces the intent in the annotations. `obstacle`: the output was not written. */
  rest: { keep?: boolean; obstacle?: Obstacle };
  pause: object;
  /** The platform or another object has to change first. */
  wait: { reason: Reason; message: string; read?: Read; recheckMs?: number };
  /** A person has to change something; `recheckMs` if time may help too. */
  stall: { reason: Reason; message: string; read?: Extract<Read, "member">; recheckMs?: number };
  /** The request failed. It is recorded, and sent again later. `gone`: nothing was created. */
  fail: { reason: Reason; message: string; gone: boolean };
  /** Look up the entry of a catalogue that spec names. */
  check: object;
  /** Spec asks for no resource, and there is none. */
  idle: object;
  create: object;
  /** Adopt an existing resource; without an id, the permanent one. */
  adopt: { id?: string };
  /** Read what is inside before a deletion. */
  inspect: object;
  /** Search for the result of an open intent. */
  search: object;
  claim: { identity: string };
  /** Put back the finalizer and the annotation of the open intent. */
  mark: object;
  /** Remove the id of a resource that is gone, or that spec no longer asks for. */
  forget: object;
  update: { operation: Operation };
  /** Make a new key, and write it to the Secret. */
  renew: object;
  /** Write the Secret again with the same key. */
  publish: object;
  /** Write the Secret or ConfigMap of spec.output, and delete those that it named before. */
  output: object;
  /** Delete the previous resource of a successive key. */
  revoke: object;
  /** Search the log of the platform for a write that got no answer. */
  recall: object;
  /** Remove the record of a write or an intent that was certainly not executed. */
  retract: object;
  /** Write the key of a renewal to the Secret. */
  deliver: object;
  delete: { action: "delete" | "replace" };
  release: { reason: Reason; message: string };
}

export type Step = keyof Steps;
export type Decision<S extends Step = Step> = { [K in S]: { step: K } & Steps[K] }[S];

/** The read to make while waiting: the list, or this member and its request. */
type Read = "list" | "member";
