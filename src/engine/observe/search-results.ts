import type { Kind } from "../../kinds/kind.ts";
import { identityOf } from "../../platform/collections/numbered.ts";
import type { Intent } from "../state/intent.ts";
import type { Creation, Memory } from "../state/memory.ts";
import { type ObjectKey, openIntent } from "../state/object.ts";
import type { Deps } from "./deps.ts";
import type { Search } from "./view.ts";

/** How far the creation of this intent has come; undefined for one that this process has not begun nor looked for. */
export const creationOf = ({ creation }: Memory, intent: Intent | undefined): Creation | undefined =>
  creation && creation.intent.nonce === intent?.nonce ? creation : undefined;

/** What the last search found, in the light of what every object owns or is about to own by now. */
export function findings(deps: Deps, key: ObjectKey, kind: Kind, intent: Intent): Search | undefined {
  const creation = creationOf(deps.memories.of(key), intent);
  const known = creation?.phase === "made" ? identityOf(creation.made) : inSecret(deps, key, intent);
  if (known !== undefined) {
    const now = deps.clock.monotonic();
    const looked = { lookedAt: now, endedAt: now, looks: 1, pending: false, inFlight: false };
    return { ...looked, matches: [known], rivals: 1, rank: 0 };
  }
  const search = creation?.phase === "sent" ? creation.search : undefined;
  if (!search) return undefined;
  const { pending } = search;
  const { account } = intent;
  const us = { account, userId: deps.accounts.get(account)?.connection.identity?.userId };
  const equals = deps.objects
    .rivals(kind.kind, intent)
    .filter((rival) => rival === key || couldBeOurs(deps, us, rival));
  const contest = contestOf(deps, key, kind, intent);
  /** Of each equal: how far this process has come with it, and the resource that it is claiming at this moment, or has marked. */
  const states = equals.map((rival) => {
    const object = deps.objects.find(rival)?.object;
    const open = object && openIntent(object);
    const theirs = open && creationOf(deps.memories.of(rival), open);
    const claiming = rival !== key && theirs?.phase === "made" ? identityOf(theirs.made) : undefined;
    const marked = rival === key || contest.yields.has(rival) ? undefined : open?.found;
    const isUnderWay = claiming !== undefined || theirs?.phase === "posting";
    return { rival, isUnderWay, taking: claiming ?? marked };
  });
  const rivals = states.filter(({ taking }) => taking === undefined).map(({ rival }) => rival);
  const taken = new Set(states.map(({ taking }) => taking));
  const free = [...search.matches].filter(
    ([identity, made]) =>
      !taken.has(identity) &&
      !deps.objects.wasClaimed(kind.kind, { ...made, parents: intent.parents, endpoint: intent.endpoint }, key),
  );
  const matches = free.map(([identity]) => identity);
  const isUnderWay = states.some((each) => each.isUnderWay) || contest.yields.size > 0;
  const inFlight = isUnderWay || isAnsweredElsewhere(deps, equals);
  const { lookedAt, endedAt, looks } = search;
  const looked = { lookedAt, endedAt, looks, pending, inFlight };
  // What it has marked as its own, no other counts.
  if (intent.found !== undefined && matches.includes(intent.found))
    return { ...looked, matches: [intent.found], rivals: 1, rank: 0 };
  return { ...looked, matches, rivals: rivals.length, rank: rivals.indexOf(key) };
}

/** What an object is about to claim, as it has written that down. */
function markOf({ objects }: Pick<Deps, "objects">, key: ObjectKey): string | undefined {
  const object = objects.find(key)?.object;
  return object && openIntent(object)?.found;
}

/**
 * Two processes may have marked the same resource at the same time, each for an object of its own. Each of them sees both marks
 * before it claims anything: the object whose intent is younger leaves it to the other, which waits until it has.
 */
export function contestOf(
  deps: Pick<Deps, "objects">,
  key: ObjectKey,
  kind: Kind,
  intent: Intent,
): { isLost: boolean; yields: ReadonlySet<ObjectKey> } {
  if (intent.found === undefined) return { isLost: false, yields: new Set() };
  const all = deps.objects.rivals(kind.kind, intent);
  const others = all.filter((rival) => rival !== key && markOf(deps, rival) === intent.found);
  const isYounger = (rival: ObjectKey) => all.indexOf(rival) > all.indexOf(key);
  return { isLost: !others.every(isYounger), yields: new Set(others.filter(isYounger)) };
}

/** A claim that another shard began before its deadline is written, and seen here, within this time. */
const CLAIM_MS = 10_000;

/**
 * Whether another shard may be about to answer one of these equal intents. It claims what its POST has made before the
 * deadline is over, and whatever it claims later it marks first.
 */
function isAnsweredElsewhere(
  { clock, memories, objects, settings, shards }: Deps,
  equals: readonly ObjectKey[],
): boolean {
  if (equals.length < 2 || !shards.divided()) return false;
  const unsettledSince = clock.monotonic() - settings.createDeadlineMs - CLAIM_MS;
  return equals.some((rival) => {
    const object = objects.find(rival)?.object;
    const intent = object && openIntent(object);
    const memory = memories.of(rival);
    if (!intent || intent.found !== undefined || creationOf(memory, intent)?.own) return false;
    return (memory.begun?.at ?? clock.monotonic()) > unsettledSince;
  });
}

/** Whether what an object with an equal open intent makes can be mistaken for what this user makes with this Account. */
export function couldBeOurs(
  { objects, accounts }: Pick<Deps, "objects" | "accounts">,
  { account, userId }: { account: string; userId: string | undefined },
  rival: ObjectKey,
): boolean {
  const object = objects.find(rival)?.object;
  const other = object && openIntent(object)?.account;
  if (other === account) return true;
  const connectionOf = (key: string | undefined) => (key === undefined ? undefined : accounts.get(key)?.connection);
  const [ours, theirs] = [connectionOf(account), connectionOf(other)];
  // Who does not say its contract may work in any, and who does not say its user may be any.
  const same = <T>(one: T | undefined, another: T | undefined) =>
    one === undefined || another === undefined || one === another;
  return same(ours?.contractNumber, theirs?.contractNumber) && same(userId, theirs?.identity?.userId);
}

/** What the Secret says that answers this very intent: it was written before the claim. */
function inSecret(deps: Deps, key: ObjectKey, { nonce }: Intent): string | undefined {
  const found = deps.objects.find(key);
  if (!found?.kind.resource?.secret?.key) return undefined;
  try {
    const publication = found.kind.resource.desire(found.object.spec).publication({ name: found.object.metadata.name });
    const note = publication && deps.published.find(found.object, publication.name).note;
    return note?.nonce === nonce ? note.resource : undefined;
  } catch {
    return undefined;
  }
}
