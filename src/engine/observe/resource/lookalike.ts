import { z } from "zod";
import { isSuccessive, type Kind } from "../../../kinds/kind.ts";
import { PlatformError, Terminal } from "../../../platform/answers/errors.ts";
import { birthOf, bornOf } from "../../../platform/collections/numbered.ts";
import { creatorOf } from "../../../platform/collections/reading.ts";
import { type AccountHandle, accountTitle, addressOf } from "../../accounts/accounts.ts";
import { ANOTHER, recreateAsked } from "../../state/annotations.ts";
import { canMake } from "../../state/intent.ts";
import type { Memory } from "../../state/memory.ts";
import { RECREATE } from "../../state/names.ts";
import type { Obstacle } from "../../status/reasons.ts";
import { type Deps, readLimit } from "../deps.ts";
import type { Context } from "../view.ts";
import type { Parents, Shared } from "./collections.ts";

const SAME = "created by the same user under the same name";
const idOf = (identity: string): string => identity.split(" of ")[0] ?? identity;
const named = z.looseObject({ properties: z.looseObject({ name: z.string().min(1) }) });
export const nameOf = (raw: unknown): string | undefined => named.safeParse(raw).data?.properties.name;

const askAdministrator = ({ key }: AccountHandle): string => `ask the administrator of ${accountTitle(key)}`;

/** An unknown creator or user matches anything. */
export const isOurs = (creator: string | undefined, userId: string | undefined): boolean =>
  userId === undefined || creator === undefined || creator === userId;

/** Whether a lost resource of the kind may be in a list, unclaimed. Permanent resources and tokens are not searched for there. */
export const mayBeListed = (kind: Kind | undefined): boolean =>
  kind?.resource !== undefined && !kind.resource.identity.permanent && !isSuccessive(kind);

/** Whether the list that would show it was not read yet, or proves nothing. */
export function isUnlisted({ doubt }: Memory, { collection, lacksMany }: Shared): boolean {
  const { listedAt, gone, isTooLarge } = collection;
  return !!doubt && !gone && !isTooLarge && (listedAt === undefined || listedAt < doubt.since || lacksMany());
}

/**
 * An unclaimed resource of the same user that has the same name, or that the object claimed before the API server was restored. It may be
 * that of an object from a backup or of a lost creation: a person must decide.
 */
export async function lookalike(deps: Deps, context: Context, parents: Parents, body: unknown) {
  const { objects, clock } = deps;
  const { kind, object, memory, status, shared, account } = context;
  if (!account || !shared || !memory.doubt || shared.collection.isTooLarge) return undefined;
  const name = nameOf(body);
  const endpoint = addressOf(account, kind.resource.place.product);
  const asked = recreateAsked(object);
  // The list may still show the previous resource. A reused number is another resource.
  const left = kind.resource.identity.reusesIds ? asked : [status.left, ...asked];
  const members = [...shared.collection.members()];
  // One that was found before is read by its id, because a list may hide it.
  const hidden = memory.lookalikes?.filter((identity) => !members.some(({ id }) => id === identity)) ?? [];
  const read = await Promise.all(hidden.map((id) => shared.source.get?.(id, readLimit())));
  const { intent, lost } = memory.doubt;
  const isInTime = (raw: unknown) => !intent || canMake(deps, intent, Date.parse(bornOf(raw) ?? ""));
  const isSameName = (raw: unknown) => name !== undefined && nameOf(raw) === name;
  const isUnclaimed = (id: string, raw: unknown) =>
    objects.claimants(kind.kind, { id, born: birthOf(kind.resource.identity, raw), parents, endpoint }).length === 0;
  const found = [...members, ...read].flatMap((member) => {
    if (!member || left.includes(idOf(member.id)) || !(member.id === lost || isSameName(member.raw))) return [];
    const isFree = isOurs(creatorOf(member.raw), account.connection.identity?.userId) && isInTime(member.raw);
    return isFree && isUnclaimed(idOf(member.id), member.raw) ? member.id : [];
  });
  memory.lookalikes = found;
  const isLost = lost !== undefined && found.includes(lost);
  const ids = (isLost ? [lost] : found).map(idOf);
  // While there is one, the next attempt checks again.
  memory.doubt = ids.length > 0 && !asked.includes(ANOTHER) ? { ...memory.doubt, since: clock.monotonic() } : undefined;
  if (!memory.doubt) return undefined;
  const command = `kubectl -n ${object.metadata.namespace} %s ${kind.kind.toLowerCase()} ${object.metadata.name}`;
  const adopt = `${command.replace("%s", "patch")} --type merge -p '{"spec":{"externalId":"${ids[0]}"}}'`;
  const isShown = account.adoption === "Any";
  const which = isShown ? ids.join(", ") : (name ?? object.metadata.name);
  const origin = isLost ? "which this object had before the API server was restored" : SAME;
  const what = `${kind.kind} ${which}, ${origin}, is on the platform, and no object owns it: this object may come from a backup, or its creation got no answer. To adopt it, ${isShown ? adopt : askAdministrator(account)}`;
  const anew = `${command.replace("%s", "annotate")} ${RECREATE}=${isShown ? found.map(idOf).join(",") : ANOTHER}`;
  return { reason: "AlreadyExists", message: `${what}; to create another one, ${anew}` } satisfies Obstacle;
}

/** After a refusal: how to manage the only unclaimed resource of the same name, which may be the cause. */
export async function namesake(
  { objects, collections }: Pick<Deps, "objects" | "collections">,
  { kind, status, account }: Pick<Context, "kind" | "status" | "account">,
  { parents, body, error }: { parents: Parents; body: unknown; error: PlatformError },
): Promise<string> {
  const name = nameOf(body);
  const isRefusal = error instanceof Terminal && !error.quota && !error.busy;
  const isManageable = mayBeListed(kind) && Object.hasOwn(kind.spec.shape, "externalId");
  if (!isRefusal || !isManageable || name === undefined || !account) return "";
  const members = await collections.members({ account, kind, parents }, readLimit()).catch((problem: unknown) => {
    if (problem instanceof PlatformError) return [];
    throw problem;
  });
  const [only, ...others] = members.filter(({ raw }) => nameOf(raw) === name);
  if (!only || others.length > 0 || idOf(only.id) === status.left) return "";
  const endpoint = addressOf(account, kind.resource.place.product);
  const place = { id: idOf(only.id), born: birthOf(kind.resource.identity, only.raw), parents, endpoint };
  if (objects.claimants(kind.kind, place).length > 0) return "";
  return `; to manage the existing one, ${account.adoption === "Any" ? `set externalId: ${place.id}` : askAdministrator(account)}`;
}
