import type { Kind } from "../../kinds/kind.ts";
import type { KubeObject } from "../../kube/resource.ts";
import type { Change, Store } from "../../kube/watch/store.ts";
import type { Obstacle } from "../status/reasons.ts";
import type { GrantChange } from "./grants.ts";
import type { Claim, Intent } from "./intent.ts";
import type { Named, ObjectKey, Place } from "./object.ts";

/**
 * All objects of all kinds, as last read, with the questions that one object has about others: who names it, who
 * claims an id, who waits for the result of an equal creation. The answers are kept up to date by the stores' changes.
 */
export interface Objects {
  readonly kinds: readonly Kind[];
  store(kind: string): Store<KubeObject>;
  /** Takes in an object that the API server has answered with, unless a newer one is known. Returns it with its verdict. */
  admit(kind: Kind, object: KubeObject): KubeObject;
  /** Judges every object anew, between two of them with a pause: there are other keys. */
  judgeAgain(pause: () => Promise<void> | undefined): Promise<void>;
  /** Objects with words that are signed with a key that is not here. */
  readonly unknown: ReadonlySet<ObjectKey>;
  find(key: ObjectKey): { kind: Kind; object: KubeObject } | undefined;
  /**
   * The resource that an object owns, or observes. A signature is as good later as it was once: who has left a resource to
   * somebody else can say again that it is theirs. Of several, the one that adopted it last has it: nobody had it then. Else the
   * object that was there first.
   */
  owned(key: ObjectKey): Claim | undefined;
  /** Objects whose spec names this one, and which may. */
  referrers(key: ObjectKey): ObjectKey[];
  /** What an object's spec names and may, whether it exists or not. */
  named(kind: Kind, object: KubeObject): Named[];
  /** Whether objects of a namespace may refer to this one: it is theirs, or a Grant beside it admits them. */
  isOpenTo(namespace: string, key: ObjectKey): boolean;
  /** Of a Grant: objects of other namespaces whose spec names one of its namespace, whether it may or not. */
  guests(key: ObjectKey): ObjectKey[];
  /** Whether an object names something that this Grant opens to it after a change and did not before, or the other way round. */
  isConcerned(guest: ObjectKey, change: GrantChange): boolean;
  /** Objects that claim this id of the sort of this kind under these parents. One that only observes claims nothing. */
  claimants(kind: string, claim: Place): ObjectKey[];
  /** Objects of this namespace that claim this id, whatever they are. */
  holders(namespace: string | undefined, id: string): ObjectKey[];
  /**
   * Whether any object has, or has had, this resource: it answers no other creation. What an edit of its status has taken from
   * an object, that object still finds.
   */
  wasClaimed(kind: string, claim: Place, by?: ObjectKey): boolean;
  /** To be told of a resource that is deleted although no object claims it: it answers no creation any more. */
  spend(kind: string, place: Place): void;
  /** Objects with an open intent of this hash for what this kind makes, under these parents, in an order all agree on. */
  rivals(kind: string, intent: Pick<Intent, "hash" | "parents">): ObjectKey[];
  /** A creation whose object is gone counts among its equals, as the last one, until its intent is taken back. */
  linger(name: string, kind: string, intent: Intent | undefined): void;
  /** Objects whose resource lives in the one with this id at this address, or is about to. */
  inhabitants(id: string, endpoint: string | undefined): ObjectKey[];
  /** Objects with a resource, or one in the making, that lives under this object's or uses it. */
  dependants(key: ObjectKey): ObjectKey[];
  /** Objects of this kind whose resource is in the same collection, or is about to be. */
  neighbours(kind: string, parents: Place["parents"]): ObjectKey[];
  /** Why an object is one more than its namespace may have of its kind; undefined when it is not. */
  excess(kind: Kind, object: KubeObject): Obstacle | undefined;
  /** Objects of this namespace. */
  residents(namespace: string): ObjectKey[];
  /** Objects that hold something on the platform through this Account, or are about to. */
  users(account: string): ObjectKey[];
  /** The Account whose user this object is. */
  accountOf(key: ObjectKey): string | undefined;
  /** Calls back whenever an object appears, changes or goes. */
  subscribe(listener: (key: ObjectKey, change: Omit<Change<KubeObject>, "key">) => void): void;
  /** Calls back when an object has become one too many, or is no longer. */
  onShift(listener: (key: ObjectKey) => void): void;
}
