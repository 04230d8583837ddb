import { GROUP } from "../../kinds/index.ts";
import { isPermanent } from "../../kube/client/errors.ts";
import { type KubeObject, SECRETS } from "../../kube/resource.ts";
import { controllerOf, type SecretContent, type WriteOptions, writeOwned } from "../../kube/write/owned-secret.ts";
import type { Deps } from "../observe/deps.ts";
import { type Found, resourceOf } from "../state/object.ts";
import { labelsOf } from "../state/published.ts";
import type { Obstacle } from "../status/reasons.ts";

export type Published =
  | { outcome: "created" | "changed" | "unchanged" }
  /** The name is taken by another owner. There is no event when it is deleted: try again later. */
  | { outcome: "obstructed"; obstacle: Obstacle };

export interface PublishOptions extends Partial<WriteOptions> {
  shown?: (written: KubeObject) => void;
  /** The field of spec that has its name. */
  field?: string;
}

type PublishDeps = Pick<Deps, "client" | "guard">;

/** Writes the Secret or ConfigMap of an object, with Mooring's labels. `shown` gets the result. */
export async function publish(
  { client, guard }: PublishDeps,
  owner: Found,
  content: SecretContent,
  { shown = () => {}, field = "secretName", ...options }: PublishOptions = {},
): Promise<Published> {
  const { kind, object } = owner;
  const labels = { ...content.labels, ...labelsOf(object) };
  const by = { resource: resourceOf(kind), object };
  const result = await writeOwned(client, by, { ...content, labels }, { guard, ...options });
  if ("foreign" in result) return { outcome: "obstructed", obstacle: notOwned(owner, result.foreign, field) };
  shown(result.secret);
  return { outcome: result.written || "unchanged" };
}

/** Why such a Secret cannot be written, as the API server says in a dry run. */
export async function obstacleTo(deps: PublishDeps, owner: Found, content: SecretContent) {
  const tried = await unlessRefused(content, () => publish(deps, owner, content, { dryRun: true }));
  return "obstacle" in tried ? tried.obstacle : undefined;
}

function notOwned({ kind, object }: Found, found: KubeObject, field: string): Obstacle {
  const owner = controllerOf(found);
  const { name } = object.metadata;
  const place = found.kind === "ConfigMap" ? "ConfigMap" : "Secret";
  const title = `${place} ${found.metadata.name}`;
  // Names are unique: the owner is a deleted object of the same name.
  if (owner?.kind === kind.kind && owner.name === name && owner.apiVersion.startsWith(`${GROUP}/`)) {
    const message = `${title} belongs to a deleted ${kind.kind} ${name}: waiting until it is deleted too`;
    return { reason: "AwaitingGarbageCollection", message };
  }
  const whose = owner ? `belongs to ${owner.kind} ${owner.name}` : `was not created for ${kind.kind} ${name}`;
  const message = `${title} already exists and ${whose}: change spec.${field}`;
  return { reason: `${place}NotOwned`, message };
}

/** Runs a write of a Secret or ConfigMap. If a quota, a policy or a missing right refuses it, that is an obstacle. */
export async function unlessRefused<T>(
  { resource = SECRETS, name }: Pick<SecretContent, "resource" | "name">,
  write: () => Promise<T>,
): Promise<T | { obstacle: Obstacle }> {
  try {
    return await write();
  } catch (error) {
    if (!isPermanent(error)) throw error;
    const message = `${resource.kind} ${name} cannot be written: ${error.message}`;
    return { obstacle: { reason: `${resource.kind}NotWritable`, message } };
  }
}
