import type { KubeObject } from "../kube/resource.ts";

/** What happens to one object. */
export type Action =
  /** The resource is created. */
  | "create"
  /** Fields of the resource, or of the object alone, change in place. */
  | "change"
  /** The resource is deleted and created again, where that is allowed. */
  | "replace"
  /** An existing resource is taken over, or shown with managementPolicy Observe. */
  | "adopt"
  /** The object is deleted, and its resource unless that is kept. */
  | "delete"
  /** Something else has to happen first that is not part of the plan. */
  | "wait"
  /** A person has to change something before anything happens. */
  | "blocked"
  /** The API server would refuse the object. */
  | "invalid"
  | "none";

/** One field of spec: its value now and after. `platform`: the value is on the platform; else it is the object's alone. */
export interface FieldChange {
  field: string;
  from: string;
  to: string;
  platform: boolean;
}

/** What a replacement takes away, and what allows it. */
export interface Replacement {
  fields: readonly string[];
  why: readonly string[];
  /** What is gone for good; empty when nothing is. */
  loses: string;
  allowed: boolean;
  /** What to set so that it is allowed; absent when it is. */
  allowedBy?: string;
}

export interface PlanItem {
  kind: string;
  namespace: string | undefined;
  name: string;
  action: Action;
  /** Id of the resource on the platform, where there is one. */
  id?: string;
  /** Whether something is written to the platform for it. */
  writes: boolean;
  fields: readonly FieldChange[];
  /** Objects of the plan that come first. */
  after: readonly string[];
  replacement?: Replacement;
  /** Why it waits, is blocked or refused, or what else to know. */
  message?: string;
  /** Spec after the apply and, with what differs on the platform, before: what prices are made of. */
  before?: unknown;
  spec?: unknown;
}

/** For people: `Server web`, with the namespace where there is one. */
export const titleOf = ({ kind, metadata }: Pick<KubeObject, "kind" | "metadata">): string =>
  `${kind} ${metadata.namespace ? `${metadata.namespace}/` : ""}${metadata.name}`;

export const isChange = ({ action }: Pick<PlanItem, "action">): boolean => action !== "none";
