import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { isConflict, isForbidden, isNotFound } from "../client/errors.ts";
import type { KubeClient } from "../client/transport.ts";
import {
  apiVersionOf,
  CONFIG_MAPS,
  type KubeObject,
  type OwnerReference,
  pathOf,
  type Resource,
  SECRETS,
  withoutManagedFields,
} from "../resource.ts";
import { fetchObject } from "../watch/followed.ts";
import { FIELD_MANAGER } from "./apply.ts";

/** The resources that hold data for workloads. */
export type DataResource = typeof SECRETS | typeof CONFIG_MAPS;

/** The desired content of a Secret or ConfigMap, not encoded. */
export interface SecretContent {
  /** Default: Secrets. */
  resource?: DataResource;
  name: string;
  data: Record<string, string | Uint8Array>;
  annotations?: Record<string, string>;
  labels?: Record<string, string>;
}

export interface Owner {
  resource: Resource;
  object: KubeObject;
}

export interface WriteOptions {
  /** Throws when this process must not write any more. */
  guard: () => void;
  dryRun?: boolean;
  /** Called before every attempt, after the read; throws when the write must not happen any more. */
  verify?: (() => Promise<void>) | undefined;
  /** The object to overwrite, as it was read; conflicts when it has changed since. */
  over?: KubeObject | undefined;
}

const ATTEMPTS = 5;

/**
 * Writes a Secret or ConfigMap of an object into the object's namespace, if anything changes.
 *
 * Ownership is the controller reference: garbage collection deletes it with the object. One without that reference is
 * `foreign`, and is neither changed nor deleted. All keys change in one write, which conflicts when it has changed since it was
 * read. Keys added by others are removed, their labels and annotations stay.
 */
export async function writeOwned(
  client: KubeClient,
  owner: Owner,
  content: SecretContent,
  { guard, verify, over, dryRun = false }: WriteOptions,
): Promise<{ secret: KubeObject; written: false | "created" | "changed" } | { foreign: KubeObject }> {
  const { namespace } = owner.object.metadata;
  const { resource = SECRETS } = content;
  for (let attempt = 1; ; attempt++) {
    const found = over ?? (await fetchObject(client, resource, { namespace, name: content.name }));
    if (found && !isControlledBy(owner.object, found)) return { foreign: found };
    const desired = desiredOf(owner, resource, content, found);
    if (found && isDeepStrictEqual(desired, found)) return { secret: found, written: false };
    await verify?.();
    guard();
    try {
      const secret = await client.request<KubeObject>({
        method: found ? "PUT" : "POST",
        path: pathOf(resource, { namespace, name: found && content.name }),
        query: { fieldManager: FIELD_MANAGER, ...(dryRun && { dryRun: "All" }) },
        body: desired,
      });
      return { secret: withoutManagedFields(secret), written: found ? "changed" : "created" };
    } catch (error) {
      // Created, changed or deleted by another client meanwhile: read it again.
      if (over || attempt === ATTEMPTS || (!isConflict(error) && !isNotFound(error))) throw error;
    }
  }
}

/** Deletes it, with uid and resourceVersion as preconditions. */
export async function removeOwned(client: KubeClient, resource: DataResource, { metadata }: KubeObject): Promise<void> {
  const { namespace, name, uid, resourceVersion } = metadata;
  const preconditions = { uid, resourceVersion };
  try {
    await client.request({ method: "DELETE", path: pathOf(resource, { namespace, name }), body: { preconditions } });
  } catch (error) {
    if (!isConflict(error) && !isNotFound(error)) throw error;
  }
}

/** The data of an object's own Secret; undefined when it does not exist or has another owner. */
export async function readOwned(
  client: KubeClient,
  object: KubeObject,
  name: string,
): Promise<{ data: Record<string, string>; annotations: Record<string, string> } | undefined> {
  const found = await fetchObject(client, SECRETS, { namespace: object.metadata.namespace, name });
  if (!found || !isControlledBy(object, found)) return undefined;
  const data = Object.entries(decoded(found)).map(([key, value]) => [key, value.toString()]);
  return { data: Object.fromEntries(data), annotations: found.metadata.annotations ?? {} };
}

const secretData = z.looseObject({ data: z.record(z.string(), z.string()).nullish() });

export const decoded = (secret: KubeObject): Record<string, Buffer> =>
  Object.fromEntries(
    Object.entries(secretData.parse(secret).data ?? {}).map(([key, value]) => [key, Buffer.from(value, "base64")]),
  );

/** The data in the encoding of a Secret or ConfigMap. */
export const encoded = ({ kind }: DataResource, data: SecretContent["data"]): Record<string, string> =>
  Object.fromEntries(
    Object.entries(data).map(([key, value]) => [
      key,
      Buffer.from(value).toString(kind === "Secret" ? "base64" : "utf8"),
    ]),
  );

/** The desired Secret or ConfigMap: the existing one with our content. */
function desiredOf(
  { resource, object }: Owner,
  target: DataResource,
  content: SecretContent,
  found: KubeObject | undefined,
): KubeObject {
  const { name, namespace, uid } = object.metadata;
  if (uid === undefined) throw new Error(`${resource.kind} ${name} has no uid that a ${target.kind} could belong to`);
  const owner: OwnerReference = {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    name,
    uid,
    controller: true,
    blockOwnerDeletion: true,
  };
  const annotations = { ...found?.metadata.annotations, ...content.annotations };
  const type = target.kind === "Secret" ? { type: "Opaque" } : {};
  const { binaryData: _, ...kept }: Partial<KubeObject> = found ?? {};
  return {
    ...type,
    ...kept,
    apiVersion: "v1",
    kind: target.kind,
    metadata: {
      ...(found?.metadata ?? { ...(namespace !== undefined && { namespace }), ownerReferences: [owner] }),
      name: content.name,
      labels: { ...found?.metadata.labels, ...content.labels },
      ...(Object.keys(annotations).length > 0 && { annotations }),
    },
    data: encoded(target, content.data),
  };
}

/** The controller reference of a Secret or ConfigMap. */
export const controllerOf = ({ metadata }: KubeObject): OwnerReference | undefined =>
  metadata.ownerReferences?.find(({ controller }) => controller);

function isControlledBy({ metadata }: KubeObject, secret: KubeObject): boolean {
  return metadata.uid !== undefined && controllerOf(secret)?.uid === metadata.uid;
}

/** The text of a key of a Secret or ConfigMap; undefined when there is none, or it may not be read. */
export async function readValue(
  client: KubeClient,
  { kind, key, ...at }: { kind: DataResource["kind"]; namespace: string; name: string; key: string },
): Promise<string | undefined> {
  const [resource, textOf] = kind === "Secret" ? [SECRETS, secretValue] : [CONFIG_MAPS, configMapValue];
  const found = await fetchObject(client, resource, at).catch((error: unknown) => {
    if (!isForbidden(error)) throw error;
  });
  return found ? textOf(found, key) : undefined;
}

/** The decoded value of a key; undefined when there is none. */
export function secretValue(secret: object, key: string): string | undefined {
  const value = configMapValue(secret, key);
  return value === undefined ? undefined : Buffer.from(value, "base64").toString("utf8");
}

/** The text of a key; undefined when there is none. */
function configMapValue(configMap: object, key: string): string | undefined {
  const data: unknown = Reflect.get(configMap, "data");
  if (typeof data !== "object" || data === null || !Object.hasOwn(data, key)) return undefined;
  const value: unknown = Reflect.get(data, key);
  return typeof value === "string" ? value : undefined;
}
