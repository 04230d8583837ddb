import { GROUP } from "../../kinds/index.ts";
import type { Kind } from "../../kinds/kind.ts";
import { KubeError } from "../../kube/errors.ts";
import { controllerOf, type SecretContent, writeOwned } from "../../kube/owned-secret.ts";
import type { KubeObject } from "../../kube/resource.ts";
import type { Deps } from "../look/deps.ts";
import { MANAGED_BY } from "../objects/names.ts";
import { resourceOf } from "../objects/object.ts";
import type { Obstacle, Reason } from "../schema/reasons.ts";

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

/** Writes the Secret of an object, marked as Mooring's. `shown` is told what is there in the end. */
export async function publish(
  { client, guard }: PublishDeps,
  publisher: Publisher,
  content: SecretContent,
  { shown = () => {}, dryRun = false }: { shown?: (secret: KubeObject) => void; dryRun?: boolean } = {},
): Promise<Published> {
  const { kind, object } = publisher;
  const labels = {
    ...content.labels,
    [MANAGED_BY]: "mooring",
    [`${GROUP}/kind`]: labelValue(kind.kind),
    [`${GROUP}/name`]: labelValue(object.metadata.name),
  };
  const owner = { resource: resourceOf(kind), object };
  const result = await writeOwned(client, owner, { ...content, labels }, { guard, dryRun });
  if ("foreign" in result) return { outcome: "obstructed", obstacle: notOwned(publisher, result.foreign) };
  shown(result.secret);
  return { outcome: result.written ? "written" : "unchanged" };
}

/** Why such a Secret cannot be written, as the API server says in a dry run. */
export async function obstacleTo(
  deps: PublishDeps,
  publisher: Publisher,
  content: SecretContent,
): Promise<Obstacle | undefined> {
  try {
    const tried = await publish(deps, publisher, content, { dryRun: true });
    return tried.outcome === "obstructed" ? tried.obstacle : undefined;
  } catch (error) {
    if (!(error instanceof KubeError) || error.status >= 500) throw error;
    const message = `Secret ${content.name} cannot be written, so nothing was created: ${error.message}`;
    return { reason: "SecretNotWritable", message };
  }
}

/** As much of a name as a label may hold. */
const labelValue = (text: string): string => text.slice(0, 63).replace(/[^A-Za-z0-9]+$/, "");

function notOwned({ kind, object }: Publisher, secret: KubeObject): Obstacle {
  const owner = controllerOf(secret);
  const { name } = object.metadata;
  const obstacle = (reason: Reason, message: string): Obstacle => ({
    reason,
    message: `Secret ${secret.metadata.name} ${message}`,
  });
  // Names are unique: whoever had this one before cannot be there any more.
  if (owner?.kind === kind.kind && owner.name === name && owner.apiVersion.startsWith(`${GROUP}/`)) {
    const message = `belongs to a deleted ${kind.kind} ${name}: waiting until it is deleted too`;
    return obstacle("SecretNotWritable", message);
  }
  const whose = owner ? `belongs to ${owner.kind} ${owner.name}` : `was not created for ${kind.kind} ${name}`;
  return obstacle("SecretNotOwned", `already exists and ${whose}: change spec.secretName, or delete the Secret`);
}
