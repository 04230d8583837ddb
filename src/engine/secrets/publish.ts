import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { GROUP } from "../../kinds/index.ts";
import type { Kind, SecretData } from "../../kinds/kind.ts";
import { FIELD_MANAGER } from "../../kube/apply.ts";
import { isConflict, isNotFound, KubeError } from "../../kube/errors.ts";
import {
  apiVersionOf,
  type KubeObject,
  type OwnerReference,
  pathOf,
  withoutManagedFields,
} from "../../kube/resource.ts";
import type { Deps } from "../look/deps.ts";
import { MANAGED_BY } from "../objects/names.ts";
import { resourceOf } from "../objects/objects.ts";
import { SECRETS } from "../objects/secret.ts";
import type { Obstacle } from "../schema/reasons.ts";

/** What a Secret that Mooring writes holds, in plain text. */
export interface SecretContent {
  name: string;
  data: SecretData;
  annotations?: Record<string, string>;
  labels?: Record<string, string>;
}

export type Published =
  | { outcome: "written" | "unchanged" }
  /** The name is taken by a Secret that is not this object's. Nothing tells when it goes: try again later. */
  | { outcome: "obstructed"; obstacle: Obstacle };

/** For whom a Secret is written. */
export interface Publisher {
  kind: Kind;
  object: KubeObject;
}

type PublishDeps = Pick<Deps, "client" | "guard">;

const ATTEMPTS = 5;

/**
 * Writes a Secret for an object, into the object's own namespace, and only when that changes anything.
 *
 * The Secret is the object's own by its controller reference: it goes with the object, by garbage collection, and one
 * without that reference, whoever made it, is neither changed nor deleted. All keys change in one write, on condition
 * that nobody else has written since the Secret was read. Keys that were added by others go, their labels and
 * annotations stay. `shown` is told what is there in the end.
 */
export async function publish(
  deps: PublishDeps,
  publisher: Publisher,
  content: SecretContent,
  shown: (secret: KubeObject) => void = () => {},
  query: Record<string, string> = {},
): Promise<Published> {
  const { namespace } = publisher.object.metadata;
  for (let attempt = 1; ; attempt++) {
    const found = await fetchSecret(deps, publisher.object, content.name);
    const wanted = secretOf(publisher, content, found);
    if (found) {
      if (!isControlledBy(publisher.object, found)) {
        return { outcome: "obstructed", obstacle: notOwned(publisher, found) };
      }
      if (isDeepStrictEqual(wanted, found)) {
        shown(found);
        return { outcome: "unchanged" };
      }
    }
    deps.guard();
    try {
      const written = await deps.client.request<KubeObject>({
        method: found ? "PUT" : "POST",
        path: pathOf(SECRETS, { namespace, name: found && content.name }),
        query: { fieldManager: FIELD_MANAGER, ...query },
        body: wanted,
      });
      shown(withoutManagedFields(written));
      return { outcome: "written" };
    } catch (error) {
      // Made, changed or deleted by somebody else meanwhile: what is there now decides.
      if (attempt === ATTEMPTS || (!isConflict(error) && !isNotFound(error))) throw error;
    }
  }
}

/** Why such a Secret cannot be written, as the API server says in a dry run. */
export async function obstacleTo(
  deps: PublishDeps,
  publisher: Publisher,
  content: SecretContent,
): Promise<Obstacle | undefined> {
  try {
    const tried = await publish(deps, publisher, content, () => {}, { dryRun: "All" });
    return tried.outcome === "obstructed" ? tried.obstacle : undefined;
  } catch (error) {
    if (!(error instanceof KubeError) || error.status >= 500) throw error;
    const message = `Secret ${content.name} cannot be written, so nothing is made that has to go into it: ${error.message}`;
    return { reason: "SecretNotWritable", message, stalled: false };
  }
}

/** What a published Secret holds; undefined when it is not there, or not this object's own. */
export async function readPublished(
  deps: Pick<Deps, "client">,
  object: KubeObject,
  name: string,
): Promise<{ data: Record<string, string>; annotations: Record<string, string> } | undefined> {
  const found = await fetchSecret(deps, object, name);
  if (!found || !isControlledBy(object, found)) return undefined;
  const decoded = Object.entries(dataOf(found)).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]);
  return { data: Object.fromEntries(decoded), annotations: found.metadata.annotations ?? {} };
}

async function fetchSecret(
  { client }: Pick<Deps, "client">,
  { metadata }: KubeObject,
  name: string,
): Promise<KubeObject | undefined> {
  try {
    const path = pathOf(SECRETS, { namespace: metadata.namespace, name });
    return withoutManagedFields(await client.request<KubeObject>({ method: "GET", path }));
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

const secretData = z.looseObject({ data: z.record(z.string(), z.string()).nullish() });

const dataOf = (secret: KubeObject): Record<string, string> => secretData.parse(secret).data ?? {};

/** The whole Secret as it ought to be: the one that was found, with what is ours in it. */
function secretOf({ kind, object }: Publisher, content: SecretContent, found: KubeObject | undefined): KubeObject {
  const { name, namespace, uid } = object.metadata;
  if (uid === undefined) throw new Error(`${kind.kind} ${name} has no uid that a Secret could belong to`);
  const owner: OwnerReference = {
    apiVersion: apiVersionOf(resourceOf(kind)),
    kind: kind.kind,
    name,
    uid,
    controller: true,
    blockOwnerDeletion: true,
  };
  const labels = {
    ...found?.metadata.labels,
    ...content.labels,
    [MANAGED_BY]: "mooring",
    [`${GROUP}/kind`]: labelValue(kind.kind),
    [`${GROUP}/name`]: labelValue(name),
  };
  const annotations = { ...found?.metadata.annotations, ...content.annotations };
  const encoded = Object.entries(content.data).map(([key, value]) => [key, Buffer.from(value).toString("base64")]);
  return {
    ...(found ?? { apiVersion: "v1", kind: "Secret", type: "Opaque" }),
    metadata: {
      ...(found?.metadata ?? { ...(namespace !== undefined && { namespace }), ownerReferences: [owner] }),
      name: content.name,
      labels,
      ...(Object.keys(annotations).length > 0 && { annotations }),
    },
    data: Object.fromEntries(encoded),
  };
}

/** As much of a name as a label may hold. */
const labelValue = (text: string): string => text.slice(0, 63).replace(/[^A-Za-z0-9]+$/, "");

const controllerOf = ({ metadata }: KubeObject): OwnerReference | undefined =>
  metadata.ownerReferences?.find(({ controller }) => controller);

function isControlledBy({ metadata }: KubeObject, secret: KubeObject): boolean {
  return metadata.uid !== undefined && controllerOf(secret)?.uid === metadata.uid;
}

function notOwned({ kind, object }: Publisher, secret: KubeObject): Obstacle {
  const owner = controllerOf(secret);
  const { name } = object.metadata;
  const obstacle = (message: string, stalled: boolean): Obstacle => ({
    reason: "SecretNotOwned",
    message: `Secret ${secret.metadata.name} ${message}`,
    stalled,
  });
  // Names are unique: whoever had this one before cannot be there any more.
  if (owner?.kind === kind.kind && owner.name === name && owner.apiVersion.startsWith(`${GROUP}/`)) {
    return obstacle(`belongs to a former ${kind.kind} ${name}, which is gone: waiting until it is removed, too`, false);
  }
  const whose = owner ? `belongs to ${owner.kind} ${owner.name}` : `was not made for ${kind.kind} ${name}`;
  return obstacle(`exists and ${whose}: choose another spec.secretName, or delete the Secret`, true);
}
