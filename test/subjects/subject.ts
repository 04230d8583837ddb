import { ALLOW_DATA_LOSS } from "../../src/engine/state/names.ts";
import type { Kind } from "../../src/kinds/kind.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import type { HandsFor, Wire } from "../cluster/hands.ts";
import type { Found, Steering } from "../cluster/steering.ts";
import type { PromisedSecret } from "../crash/lives/secrets.ts";
import type { Base, Manifests } from "./manifests.ts";
import { telling } from "./output.ts";
import { account, type Ground, type Manifest } from "./surroundings.ts";

/** Another value in spec, and what the platform shows once it is true there. */
export interface Difference {
  spec: object;
  shows: Record<string, unknown>;
}

/** A list in spec that can be emptied. */
export interface EmptiedList {
  spec: object;
  /** Spec that says nothing about the list, and so leaves it alone; absent where the field has a default. */
  silent?: object;
  /** Its resource on the platform. */
  members(found: Found, platform: Steering): Promise<unknown[]>;
}

/** A change of spec or annotations that ends with Ready again. */
export interface Change {
  /** The name of the phase: `update`, `replace` … */
  title: string;
  spec: object;
  /** In addition to those of the whole life. */
  annotations?: Record<string, string>;
  /** Required content of the kind's part of status before the life is over. */
  says?: Record<string, unknown>;
  /** So much later, by the platform's clock. */
  afterSeconds?: number;
  /** The key or certificate in the Secret has to be another one before it is over. */
  renewsKey?: true;
  /** Properties of the resource that only the platform can vouch for, once the object says Ready. */
  shows?: Record<string, unknown>;
}

/** The life of one object of a kind: created, changed, deleted; Ready, or gone, after each. */
export interface Life {
  /** Made Ready before the life begins, in this order. */
  prerequisites: Manifest[];
  annotations?: Record<string, string>;
  spec: object;
  changes: Change[];
  /** The Secrets that the object, as it stands, must have published whenever it is Ready. */
  secrets?: (object: KubeObject) => PromisedSecret[];
  /** Properties of a resource that cannot be deleted once the object is gone: the same as before it came. */
  restores?: Record<string, unknown>;
}

/**
 * Everything that tests need to know of a kind: contract, manifests and crash lives are made of it. Its spec is valid as it
 * stands; what it refers to is in surroundings.ts.
 */
export interface Subject extends Base {
  /** The part of spec that an object of this name cannot share with others. */
  own?(name: string): object;
  /** The resource of an object on the platform, and how it is created there without Mooring. Absent without a resource. */
  wire?: Wire;
  /** How a test touches the resource, where it is not one that comes and goes. */
  hands?: HandsFor;
  /** Begins the names of its objects, where the platform takes short ones only. */
  prefix?: string;
  /** The part of spec that the platform shows. Default: the name. */
  shows?(name: string): object;
  /** Spec that differs from what is there; empty where nothing can. Default: another name. */
  unlike?: object;
  /** The parts of spec that name its place and nothing else. */
  place?(name: string): object;
  /** The parts of spec that have to be there and that the platform cannot know. */
  otherFields?(name: string): object;
  /** An id that nothing has. */
  nobody?: string;
  /** A change that the platform can make, and one that it cannot; absent where there is none. */
  change?(name: string): Difference;
  fixedChange?: Difference;
  /** Another place, where nothing but the place is fixed. */
  move?: Difference;
  /** The lists in spec that can be emptied, by the name of the field. */
  lists?: Record<string, EmptiedList>;
  /** The objects that it refers to; the Account is there anyway. */
  needs?(ground: Ground): Manifest[];
  /** Where its life is another one than: created, changed, replaced. */
  life?(ground: Ground): Partial<Life>;
  manifests: Manifests;
}

/** A change that needs a replacement, as the last one of a life. */
export const replaced = (spec: object, { spec: other, shows }: Difference): Change => ({
  title: "replace",
  spec: { ...spec, ...other, replacePolicy: "WhenNeeded" },
  shows,
});

export function lifeOf(subject: Subject, { kind, resource }: Kind, ground: Ground): Life {
  const { spec, needs, change, fixedChange, move } = subject;
  const update = change?.(`nth-${ground.nth}`);
  const fixed = fixedChange ?? move;
  const changed = { ...spec, ...update?.spec };
  const life: Life = {
    prerequisites: resource ? [account(ground), ...(needs?.(ground) ?? [])] : [],
    annotations: resource?.destruction.holdsData ? { [ALLOW_DATA_LOSS]: "true" } : {},
    spec,
    changes: [
      ...(update ? [{ title: "update", spec: changed, shows: update.shows }] : []),
      ...(fixed ? [replaced(changed, fixed)] : []),
    ],
    ...subject.life?.(ground),
  };
  return resource?.output ? telling(life, `${kind.toLowerCase()}-${ground.nth}`) : life;
}
