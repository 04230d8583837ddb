import type { ObjectRef, Reference } from "../../kinds/desired.ts";
import { GROUP, VERSION } from "../../kinds/index.ts";
import type { Kind } from "../../kinds/kind.ts";
import type { KubeObject, Resource } from "../../kube/resource.ts";
import { memo } from "../../runtime/memo.ts";
import { unlessThrown } from "../../runtime/unless-thrown.ts";
import { readStatus } from "../status/status.ts";
import { countedAnnotation, unknownKey } from "../status/trust.ts";
import { type Claim, claimIn, type Intent, isAsNew, readClaim, readIntent } from "./intent.ts";
import { EXTERNAL_ID, FINALIZER, INTENT } from "./names.ts";

/** Names one object among all kinds: `Server/default/web`, or `ClusterAccount/shared` where there is no namespace. */
export type ObjectKey = string;

/** An object with its kind. */
export interface Found {
  kind: Kind;
  object: KubeObject;
}

export const resourceOf = (kind: Kind): Resource => ({
  group: GROUP,
  version: VERSION,
  kind: kind.kind,
  plural: kind.plural,
  namespaced: kind.scope !== "Cluster",
});

export const objectKey = (kind: string, namespace: string, name: string): ObjectKey =>
  namespace === "" ? `${kind}/${name}` : `${kind}/${namespace}/${name}`;

/** The key of an object of this kind. */
export const keyTo = ({ kind }: { kind: string }, { metadata }: Pick<KubeObject, "metadata">): ObjectKey =>
  objectKey(kind, metadata.namespace ?? "", metadata.name);

export const targetOf = (key: ObjectKey) => {
  const [kind = "", namespace = "", name = ""] = key.split("/");
  return { kind, namespace, name };
};
export const namespaceOf = (key: ObjectKey): string => key.split("/", 2)[1] ?? "";

/** An object by its name, for users of this namespace: they learn nothing about other namespaces. */
export const nameFor = (namespace: string | undefined, key: ObjectKey): string =>
  namespaceOf(key) === namespace ? key : "an object of another namespace";

/** Whether Mooring is done with an object that is still there, because others have finalizers of their own on it. */
export const isReleased = ({ metadata }: KubeObject): boolean =>
  metadata.deletionTimestamp !== undefined && !metadata.finalizers?.includes(FINALIZER);

/** The creation of an object that has no answer yet. */
export const openIntent: (object: KubeObject) => Intent | undefined = memo((object) => {
  if (isReleased(object) || unknownKey(object)) return undefined;
  const intent = readIntent(countedAnnotation(object, INTENT));
  const status = readStatus(object);
  if (!intent || intent.nonce === status.nonce) return undefined;
  return [status, keptClaim(object) ?? {}].every((each) => isAsNew(intent, each)) ? intent : undefined;
});

const keptClaim = memo((object: KubeObject) => readClaim(countedAnnotation(object, EXTERNAL_ID)));

/** The resource that an object names: by its status, or by its annotation where status was lost. */
export function claimOf(object: KubeObject): Claim | undefined {
  return isReleased(object) || openIntent(object) ? undefined : statedClaim(object);
}

/**
 * Whether an object owns the resource that it names. It does not own what it only observes, nor an id that the platform may have
 * given to another resource, unless that id answered its own creation.
 */
export const holds = ({ resource }: Kind, object: KubeObject, { born, onlyObserved = false }: Claim): boolean =>
  !observes(object) &&
  !onlyObserved &&
  (!resource?.identity.reusesIds || born !== undefined || readStatus(object).nonce !== undefined);

/** All resources of an object, with the one that stays until its replacement exists, and the previous one. */
export function holdingsOf(object: KubeObject | undefined): Claim[] {
  if (!object) return [];
  const intent = openIntent(object);
  const stated = intent && intent.succeeds === undefined ? undefined : statedClaim(object);
  if (isReleased(object) || !stated) return [];
  const { previous } = readStatus(object);
  return [stated, ...(previous ? [{ ...stated, id: previous.id }] : [])];
}

const statedClaim = memo(readStated);

function readStated(object: KubeObject): Claim | undefined {
  if (unknownKey(object)) return undefined;
  const { id, parents = {}, account = "", endpoint = "", born, ...status } = readStatus(object);
  // An object that only observes shows whichever resource has the number now.
  const known = born === undefined || observes(object) ? {} : { born };
  if (id !== undefined) return claimIn({ id, parents, account, endpoint, ...status, ...known });
  const [intent, kept] = [readIntent(countedAnnotation(object, INTENT)), keptClaim(object)];
  // An intent that was answered without an id was refused: there is no resource.
  const isRefused = intent && kept && isAsNew(intent, kept);
  return kept && isAsNew(kept, status) && !isRefused ? kept : undefined;
}

/** Whether the annotation with the id was edited or removed, or is older than status: a backup would bring back something else. */
export function isMisnamed(object: KubeObject): boolean {
  const [status, { annotations = {} }] = [readStatus(object), object.metadata];
  if (status.id === undefined) return false;
  if (annotations[EXTERNAL_ID] === undefined) return !annotations[INTENT] && status.revision !== undefined;
  const kept = keptClaim(object);
  return kept?.id !== status.id || !isAsNew(kept, status);
}

/** Where a resource is: its identity is unique under its parents, at the address where it was made. */
export type Place = Pick<Claim, "id" | "parents" | "born" | "endpoint">;

/** Whether the object only shows its resource. */
export const observes = ({ spec }: KubeObject): boolean => Reflect.get(Object(spec), "managementPolicy") === "Observe";

/** A reference by name, and the object that it means. */
export type Named = Reference & { key: ObjectKey };

/** The object that a reference by name means, in namespace `home` unless it names another one. */
export const keyOfTarget = (home: string, kind: string, { namespace = home, name }: ObjectRef): ObjectKey =>
  objectKey(kind, namespace, name);

/** References in spec, to existing objects or not. An invalid spec has none. */
export function namedBy(kind: Kind, object: KubeObject): Named[] {
  const { resource, task } = kind;
  const read = () => resource?.desire(object.spec).references ?? task?.references(object.spec);
  return (unlessThrown(read) ?? []).flatMap((reference) =>
    "name" in reference.target
      ? [{ ...reference, key: keyOfTarget(object.metadata.namespace ?? "", reference.kind, reference.target) }]
      : [],
  );
}

/** Whether the object `key` has to stay for as long as this object's resource does. */
export function dependsOn(kind: Kind, object: KubeObject, key: ObjectKey): boolean {
  return namedBy(kind, object).some(
    (reference) =>
      reference.key === key && reference.bond !== "seed" && !kind.resource?.place.outlives?.includes(reference.role),
  );
}
