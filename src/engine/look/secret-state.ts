import type { Desired, Publication } from "../../kinds/kind.ts";
import type { KubeObject } from "../../kube/resource.ts";
import { type Claim, hashBody } from "../objects/intent.ts";
import type { Memory } from "../objects/memory.ts";
import { ROTATE_AT } from "../objects/names.ts";
import type { Shared } from "./collections.ts";
import type { Deps } from "./deps.ts";
import { dueAt } from "./rotation.ts";
import type { SecretState } from "./view.ts";

/** Everything of a Secret but the key. */
export const contentOf = (publication: Publication, item: unknown): string =>
  hashBody(publication.data(item, "")).slice(0, 12);

/** How the Secret for workloads stands, and whether the key in it has served its time. */
export function secretOf(
  { published }: Deps,
  object: KubeObject,
  desired: Desired,
  { id }: Claim,
  shared: Shared | undefined,
  { renewAfter }: Memory,
  now: number,
): { secret: SecretState; due: boolean } | undefined {
  const publication = desired.publication({ name: object.metadata.name });
  if (!publication) return undefined;
  const { known, note } = published.find(object, publication.name);
  if (!known) return { secret: "unknown", due: false };
  const asked = object.metadata.annotations?.[ROTATE_AT];
  if (note?.resource !== id) return { secret: "missing", due: asked !== undefined };
  const aged = (dueAt(note.key, desired.rotation(), renewAfter) ?? Number.POSITIVE_INFINITY) <= now;
  const item = shared?.collection.read(id).item;
  const current = !item || contentOf(publication, item.raw) === note.content;
  return { secret: current ? "current" : "outdated", due: aged || (asked !== undefined && asked !== note.rotated) };
}
