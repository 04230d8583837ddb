import type { Desired, Inputs, Reference, Referent } from "../../../kinds/desired.ts";
import type { KubeClient } from "../../../kube/client/transport.ts";
import type { KubeObject } from "../../../kube/resource.ts";
import { readValue } from "../../../kube/write/owned-secret.ts";
import { withoutVarying } from "../../../platform/answers/varying.ts";
import { isPaused } from "../../state/annotations.ts";
import { keyOfTarget, objectKey } from "../../state/object.ts";
import type { Objects } from "../../state/objects.ts";
import { isReason, needsPerson, type Obstacle, type Reason } from "../../status/reasons.ts";
import { readWhole, readyOf } from "../../status/status.ts";
import type { Subject } from "../view.ts";

export type Resolved<T> = { value: T } | { obstacle: Obstacle };

/** The objects and resources that the references of spec lead to. */
export type References = Required<Pick<Inputs, "parents" | "refs" | "abroad">>;

/**
 * Follows the references of spec, in the namespace of the object and where a Grant allows another one. `kept` are the
 * parents of a resource that exists or is being created: it keeps them, and only the references that it uses must be
 * Ready.
 */
export function resolveReferences(
  objects: Objects,
  object: KubeObject,
  { references }: Pick<Desired, "references">,
  kept?: Readonly<Record<string, string>>,
): Resolved<References> {
  const parents: Record<string, string> = { ...kept };
  const refs: Record<string, Referent> = {};
  const { namespace = "" } = object.metadata;
  const abroad = references.filter(({ target }) => "name" in target && (target.namespace ?? namespace) !== namespace);
  for (const reference of references) {
    const { bond = "place", role } = reference;
    const needed = kept === undefined || bond === "use";
    const resolved = resolve(objects, object, reference, kept === undefined);
    if ("value" in resolved) refs[role] = resolved.value;
    else if (needed) return resolved;
    if (bond === "place" && kept === undefined && "value" in resolved) parents[role] = resolved.value.id;
  }
  return { value: { parents, refs, abroad: abroad.map(({ role }) => role) } };
}

/** Why a creation has to wait: what spec refers to is gone or not Ready. */
export function unresolved(objects: Objects, { object, desired }: Pick<Subject, "object" | "desired">) {
  const resolved = desired && resolveReferences(objects, object, desired);
  return resolved && "obstacle" in resolved ? resolved.obstacle : undefined;
}

/** The first reference into another namespace that no Grant allows. */
export function notGranted(objects: Objects, object: KubeObject, { references }: Desired): Obstacle | undefined {
  const { namespace = "" } = object.metadata;
  return references.map((reference) => closed(objects, namespace, reference)).find((obstacle) => obstacle);
}

/** The message is the same whether the object exists or not. */
function closed(objects: Objects, own: string, { kind, field, target }: Reference): Obstacle | undefined {
  if ("id" in target || objects.isOpenTo(own, keyOfTarget(own, kind, target))) return undefined;
  const { name, namespace } = target;
  const message = `${field}: no Grant in namespace ${namespace} lets namespace ${own} refer to ${kind} ${name}: ask for one, or name an object of this namespace`;
  return { reason: "ReferenceNotGranted", message };
}

/** The object that spec names as the place of a resource, if it is gone by now, is being deleted or has another resource. */
export function lostPlace(
  objects: Objects,
  { object, desired, claim }: Pick<Subject, "object" | "desired" | "claim">,
): string | undefined {
  for (const { bond = "place", role, kind, target, part } of desired?.references ?? []) {
    if (bond !== "place" || "id" in target) continue;
    const parent = objects.find(keyOfTarget(object.metadata.namespace ?? "", kind, target))?.object;
    const title = `${kind} ${target.name}`;
    if (!parent || parent.metadata.deletionTimestamp) return title;
    const { id, ...shown } = readWhole(parent);
    if ((part ? part.of(shown) : id) !== claim?.parents[role]) return part ? `${part.what} of ${title}` : title;
  }
  return undefined;
}

function resolve(objects: Objects, object: KubeObject, reference: Reference, whenReady: boolean): Resolved<Referent> {
  const { kind, field, target, part } = reference;
  const own = object.metadata.namespace ?? "";
  if ("id" in target) return { value: { id: target.id, ...behind(objects, own, kind, target.id) } };
  const obstacle = closed(objects, own, reference);
  if (obstacle) return { obstacle };
  const { name, namespace = own } = target;
  const shown = namespace === own ? name : `${namespace}/${name}`;
  const title = `${kind} ${shown}`;
  const key = keyOfTarget(own, kind, target);
  const known = objects.find(key);
  const found = known?.object;
  const blocked = (reason: Reason, message: string): Resolved<Referent> => ({
    obstacle: { reason, message: `${field}: ${message}` },
  });
  if (!found) return blocked("ReferenceNotFound", `${kind} ${name} not found in namespace ${namespace}`);
  const self = objectKey(object.kind, own, object.metadata.name);
  if (objects.referrers(self).includes(key)) {
    const back = objects.named(known.kind, found).find((named) => named.key === self);
    const message = `${title} names this ${object.kind} in ${back?.field}, and each would wait for the other: remove one of the two`;
    return blocked("InvalidSpec", message);
  }
  const pause = isPaused(found) ? `${title} is paused: remove its annotation mooring.dev/paused` : undefined;
  if (whenReady && found.metadata.deletionTimestamp) {
    return blocked("ReferenceNotReady", `${title} is being deleted${pause ? `; ${pause}` : ""}`);
  }
  const claim = objects.owned(key);
  // A child is created only under a parent that is Ready. Later changes of the parent do not affect the child.
  const ready = readyOf(found)?.status === "True";
  if (!claim || (whenReady && !ready)) {
    return blocked("ReferenceNotReady", pause ?? waitingFor(title, found));
  }
  const status = readWhole(found);
  const id = part ? part.of(status) : claim.id;
  if (id === undefined) {
    const others = part?.all?.(status) ?? [];
    const hint = others.length > 0 ? `; valid: ${others.join(", ")}` : "";
    const reason = ready ? "ReferenceNotFound" : "ReferenceNotReady";
    return blocked(reason, `${title} has no ${part?.what}${hint}${pause ? `; ${pause}` : ""}`);
  }
  return { value: { id, status, name: shown } };
}

/** The status of the object in the namespace that owns the resource with this id. */
function behind(objects: Objects, namespace: string, kind: string, id: string): Omit<Referent, "id"> {
  const holder = objects.holders(namespace, id).find((key) => key.startsWith(`${kind}/`));
  const object = holder === undefined ? undefined : objects.find(holder)?.object;
  return object ? { status: readWhole(object), name: object.metadata.name } : { status: {} };
}

/** The values of the Secrets and ConfigMaps that spec names. They are read when needed and not stored. */
export async function readSecrets(
  client: KubeClient,
  object: KubeObject,
  desired: Pick<Desired, "secrets">,
): Promise<Resolved<Inputs["secrets"]>> {
  const namespace = object.metadata.namespace ?? "";
  const values: Record<string, string> = {};
  for (const { field, kind, name, key } of desired.secrets) {
    const value = await readValue(client, { kind, namespace, name, key });
    if (value === undefined) {
      const message = `${field}: ${kind} ${name} in namespace ${namespace} does not exist or has no key ${key}`;
      return { obstacle: { reason: kind === "Secret" ? "SecretNotFound" : "ReferenceNotFound", message } };
    }
    values[field] = value;
  }
  return { value: values };
}

/** Reasons that last only moments. Objects that wait do not quote them. */
const SHORT: ReadonlySet<string> = new Set<Reason>(["Pending", "Observing"]);
/** Reasons whose message stays the same while the platform works. */
const WORKING: ReadonlySet<string> = new Set<Reason>(["Creating", "Updating", "Replacing", "Deleting"]);
/** Reasons that usually need a person, although the object is not stalled. */
const LASTING: ReadonlySet<string> = new Set<Reason>(["ReferenceNotFound", "AccountNotFound", "SecretNotFound"]);

/** The longest quote of another object's message. */
const LONGEST = 300;
const quoted = / to be Ready: (\w+)/g;

const isTrouble = (reason: string): boolean => LASTING.has(reason) || (isReason(reason) && needsPerson(reason));

/** Why an object is not Ready until a person acts on it or on what it waits for. The text stays the same meanwhile. */
export function troubleOf(object: KubeObject): string | undefined {
  const { status, reason = "", message = "" } = readyOf(object) ?? {};
  if (status === "True") return undefined;
  const last = reason === "ReferenceNotReady" ? [...message.matchAll(quoted)].at(-1)?.[1] : undefined;
  if (!isTrouble(reason) && !(last !== undefined && isTrouble(last))) return undefined;
  return `${reason}: ${withoutVarying(untilRetry(message))}`;
}

/** The message without the time of the next attempt, which always changes. */
const untilRetry = (message: string): string => message.split("; next attempt at ", 1)[0] ?? "";

/** The message of an object that waits for another one: it quotes why that one is not Ready, if that lasts. */
function waitingFor(title: string, found: KubeObject): string {
  const { status, reason = "", message = "" } = readyOf(found) ?? {};
  const plain = `waiting for ${title} to be Ready`;
  if (status === undefined || status === "True" || SHORT.has(reason)) return plain;
  const isSteady = WORKING.has(reason) || troubleOf(found) !== undefined;
  if (!isSteady) return reason === "ReferenceNotReady" ? plain : `${plain}: ${reason}`;
  const why = untilRetry(message);
  return `${plain}: ${reason}: ${why.length > LONGEST ? `${why.slice(0, LONGEST)}…` : why}`;
}
