import { z } from "zod";
import { isSuccessive, type ResourceKind } from "../../kinds/kind.ts";
import { type AccountHandle, addressOf, titleOf } from "../accounts/accounts.ts";
import { birthOf } from "../state/identity.ts";
import type { Memory } from "../state/memory.ts";
import { RECREATE } from "../state/names.ts";
import type { Obstacle } from "../status/reasons.ts";
import type { Shared } from "./collections.ts";
import type { Deps } from "./deps.ts";
import type { Context } from "./view.ts";

const metadata = z.looseObject({
  metadata: z.looseObject({ createdByUserId: z.string().nullish() }).nullish(),
});
const named = z.looseObject({ properties: z.looseObject({ name: z.string().min(1) }) });

export const creatorOf = (raw: unknown): string | undefined =>
  metadata.safeParse(raw).data?.metadata?.createdByUserId ?? undefined;

/** Where either side does not say who it is, the rest has to do. */
export const isOurs = (creator: string | undefined, userId: string | undefined): boolean =>
  userId === undefined || creator === undefined || creator === userId;

/**
 * Whether something may have been made for an object that does not tell of it, because it was restored from a backup. What is
 * always there is only taken over, and tokens of one user cannot be told apart.
 */
export const isDoubted = (kind: ResourceKind, { restoredAt }: Memory): boolean =>
  restoredAt !== undefined && !kind.resource.identity.permanent && !isSuccessive(kind);

/** Whether the list has still to come that would show it. One that is not there, or too large, shows nothing. */
export function isUnlisted({ restoredAt = 0 }: Memory, { collection }: Shared): boolean {
  const { listedAt, gone, isTooLarge } = collection;
  return !gone && !isTooLarge && (listedAt === undefined || listedAt < restoredAt);
}

/** Says instead of the id: whatever there is of this name, create another one. */
const ANOTHER = "another";

/**
 * What may have been made for an object that does not tell of it: it has the name that would be sent, was created by our own
 * user, and no object claims it. Then a person says whose it is.
 */
export function lookalike(
  { objects, clock }: Pick<Deps, "objects" | "clock">,
  { kind, object, memory, status, shared }: Context,
  account: AccountHandle,
  parents: Readonly<Record<string, string>>,
  body: unknown,
): Obstacle | undefined {
  if (!shared || !isDoubted(kind, memory) || shared.collection.isTooLarge) return undefined;
  const nameOf = (said: unknown) => named.safeParse(said).data?.properties.name;
  const name = nameOf(body);
  const endpoint = addressOf(account, kind.resource.place.product);
  const { userId } = account.connection.identity ?? {};
  const asked = object.metadata.annotations?.[RECREATE]?.split(",") ?? [];
  // What was given up may still be shown. Under a number that is given away again it is another one.
  const left = kind.resource.identity.reusesIds ? asked : [status.left, ...asked];
  const ids: string[] = [];
  for (const { id: identity, raw } of shared.collection.members()) {
    const [id = identity] = identity.split(" of ");
    if (name === undefined || nameOf(raw) !== name || !isOurs(creatorOf(raw), userId) || left.includes(id)) continue;
    if (objects.claimants(kind.kind, { id, born: birthOf(kind, raw), parents, endpoint }).length === 0) ids.push(id);
  }
  // What is found now is looked for again before the next attempt.
  memory.restoredAt = ids.length > 0 && !asked.includes(ANOTHER) ? clock.monotonic() : undefined;
  if (memory.restoredAt === undefined) return undefined;
  const word = `kubectl -n ${object.metadata.namespace} %s ${kind.kind.toLowerCase()} ${object.metadata.name}`;
  const adopt = `${word.replace("%s", "patch")} --type merge -p '{"spec":{"externalId":"${ids[0]}"}}'`;
  const isShown = account.adoption === "Any";
  const what = `${kind.kind} ${isShown ? ids.join(", ") : name}, created by the same user under the same name, is on the platform, and no object owns it: this object may come from a backup. To adopt it, ${isShown ? adopt : `ask the administrator of ${titleOf(account.key)}`}`;
  const anew = `${word.replace("%s", "annotate")} ${RECREATE}=${isShown ? ids.join(",") : ANOTHER}`;
  return { reason: "AlreadyExists", message: `${what}; to create another one, ${anew}` };
}
