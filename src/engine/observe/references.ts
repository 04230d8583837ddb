import type { Desired, Inputs, Reference, Referent, SecretInput } from "../../kinds/desired.ts";
import { isForbidden } from "../../kube/client/errors.ts";
import type { KubeClient } from "../../kube/client/transport.ts";
import type { KubeObject } from "../../kube/resource.ts";
import { fetchObject } from "../../kube/watch/followed.ts";
import { CONFIG_MAPS, configMapValue, SECRETS, secretValue } from "../../kube/write/owned-secret.ts";
import { isPaused } from "../state/annotations.ts";
import { keyOfTarget, objectKey } from "../state/object.ts";
import type { Objects } from "../state/objects.ts";
import type { Obstacle } from "../status/reasons.ts";
import { readStatus, readWhole } from "../status/status.ts";

import { waitingFor } from "./waiting.ts";

export type Resolved<T> = { value: T } | { obstacle: Obstacle };

/** What spec's references lead to. */
export interface References {
  /** Ids of what the resource lives under, by role. */
  parents: Readonly<Record<string, string>>;
  refs: Inputs["refs"];
  /** Roles that lead into another namespace. */
  abroad: readonly string[];
}

/**
 * Follows spec's references, within the object's own namespace and where a Grant opens another one. `kept` are the parents of a resource that exists or is
 * being made: it does not move, and needs no more than what it uses.
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

/** A reference of spec that leads into another namespace and may not. Where it does, nothing is made any more. */
export function notGranted(objects: Objects, object: KubeObject, { references }: Desired): Obstacle | undefined {
  const { namespace = "" } = object.metadata;
  return references.map((reference) => closed(objects, namespace, reference)).find((obstacle) => obstacle);
}

/** In the same words whatever is there: who may not refer to it learns nothing about it. */
function closed(objects: Objects, own: string, { kind, field, target }: Reference): Obstacle | undefined {
  if ("id" in target || objects.isOpenTo(own, keyOfTarget(own, kind, target))) return undefined;
  const { name, namespace } = target;
  const message = `${field}: no Grant in namespace ${namespace} lets namespace ${own} refer to ${kind} ${name}: ask for one, or name an object of this namespace`;
  return { reason: "ReferenceNotGranted", message };
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
  const wait = (reason: "ReferenceNotFound" | "ReferenceNotReady", message: string): Resolved<Referent> => ({
    obstacle: { reason, message: `${field}: ${message}` },
  });
  if (!found) return wait("ReferenceNotFound", `${kind} ${name} not found in namespace ${namespace}`);
  const self = objectKey(object.kind, own, object.metadata.name);
  if (objects.referrers(self).includes(key)) {
    const back = objects.named(known.kind, found).find((named) => named.key === self);
    const message = `${field}: ${title} names this ${object.kind} in ${back?.field}, and each would wait for the other: remove one of the two`;
    return { obstacle: { reason: "InvalidSpec", message } };
  }
  const pause = isPaused(found) ? `${title} is paused: remove its annotation mooring.dev/paused` : undefined;
  if (whenReady && found.metadata.deletionTimestamp) {
    return wait("ReferenceNotReady", `${title} is being deleted${pause ? `; ${pause}` : ""}`);
  }
  const claim = objects.owned(key);
  // A parent must be fully provisioned before a child is created; one that is being changed will be so again.
  const ready = readStatus(found).conditions?.some(({ type, status }) => type === "Ready" && status === "True");
  if (!claim || (whenReady && !ready)) {
    return wait("ReferenceNotReady", pause ?? waitingFor(title, found));
  }
  const status = readWhole(found);
  const id = part ? part.of(status) : claim.id;
  if (id === undefined) {
    const others = part?.all?.(status) ?? [];
    const hint = others.length > 0 ? `; valid: ${others.join(", ")}` : "";
    const reason = ready ? "ReferenceNotFound" : "ReferenceNotReady";
    return wait(reason, `${title} has no ${part?.what}${hint}${pause ? `; ${pause}` : ""}`);
  }
  return { value: { id, status, name: shown } };
}

/** What an object of the namespace knows of a resource that is named by its id. */
function behind(objects: Objects, namespace: string, kind: string, id: string): Omit<Referent, "id"> {
  const holder = objects.holders(namespace, id).find((key) => key.startsWith(`${kind}/`));
  const object = holder === undefined ? undefined : objects.find(holder)?.object;
  return object ? { status: readWhole(object), name: object.metadata.name } : { status: {} };
}

const sources = {
  Secret: { resource: SECRETS, read: secretValue, absent: "SecretNotFound" },
  ConfigMap: { resource: CONFIG_MAPS, read: configMapValue, absent: "ReferenceNotFound" },
} as const;

/** The values behind spec's Secrets and ConfigMaps. Read when they are needed and kept nowhere. */
export async function readSecrets(
  client: KubeClient,
  object: KubeObject,
  desired: Pick<Desired, "secrets">,
): Promise<Resolved<Inputs["secrets"]>> {
  const namespace = object.metadata.namespace ?? "";
  const values: Record<string, string> = {};
  for (const input of desired.secrets) {
    const { field, kind, name, key } = input;
    const value = await readSecret(client, namespace, input);
    if (value === undefined) {
      const message = `${field}: ${kind} ${name} in namespace ${namespace} does not exist or has no key ${key}`;
      return { obstacle: { reason: sources[kind].absent, message } };
    }
    values[field] = value;
  }
  return { value: values };
}

async function readSecret(
  client: KubeClient,
  namespace: string,
  { kind, name, key }: SecretInput,
): Promise<string | undefined> {
  const { resource, read } = sources[kind];
  try {
    const found = await fetchObject(client, resource, { namespace, name });
    return found && read(found, key);
  } catch (error) {
    if (isForbidden(error)) return undefined;
    throw error;
  }
}
