import type { KubeObject } from "../kube/resource.ts";

export type Action =
  /** The resource is created. */
  | "create"
  /** Fields of the resource, or only of the object, change in place. */
  | "change"
  /** The resource is deleted and created again, if that is allowed. */
  | "replace"
  /** An existing resource is adopted, or only observed. */
  | "adopt"
  /** The object is deleted, and its resource unless deletionPolicy is Retain. */
  | "delete"
  /** Something outside of the plan must happen first. */
  | "wait"
  /** The user must change something first. */
  | "blocked"
  /** The API server would refuse the object. */
  | "invalid"
  /** The caller may not read the object: whether it exists is not known. */
  | "unknown"
  | "none";

/**
 * One field of spec: its value now and after the apply. `platform`: the field exists on the platform; otherwise only in
 * the object.
 */
export interface FieldChange {
  field: string;
  from: string;
  to: string;
  platform: boolean;
}

/** The losses of a replacement, and the setting that allows it. */
export interface Replacement {
  fields: readonly string[];
  why: readonly string[];
  /** Data that is lost; empty if there is none. */
  loses: string;
  allowed: boolean;
  /** The setting that allows it, if it is not allowed yet. */
  allowedBy?: string;
}

export interface PlanItem {
  kind: string;
  namespace: string | undefined;
  name: string;
  action: Action;
  /** Platform id of the resource, if it exists. */
  id?: string;
  /** Whether the plan writes to the platform for this object. */
  writes: boolean;
  fields: readonly FieldChange[];
  /** Objects of the plan that must come first. */
  after: readonly string[];
  replacement?: Replacement;
  /** The reason of a wait, block or refusal, or other information. */
  message?: string;
  /** Spec after the apply, and before it with the drift of the platform included. Prices are made from both. */
  before?: unknown;
  spec?: unknown;
}

/** For people: `Server web`, with the namespace if there is one. */
export const titleOf = ({ kind, metadata }: Pick<KubeObject, "kind" | "metadata">): string =>
  `${kind} ${metadata.namespace ? `${metadata.namespace}/` : ""}${metadata.name}`;

export const isChange = ({ action }: Pick<PlanItem, "action">): boolean => action !== "none";
