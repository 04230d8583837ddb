import type { Kind } from "../../../kinds/kind.ts";
import { identityOf } from "../../../platform/collections/numbered.ts";
import type { Intent } from "../../state/intent.ts";
import type { Memory, OpenCreation } from "../../state/memory.ts";
import { type ObjectKey, openIntent } from "../../state/object.ts";
import type { Deps } from "../deps.ts";
import { noteWith } from "../secrets/secret-state.ts";
import type { Search, Subject } from "../view.ts";

/** The creation of this intent in memory; undefined if this process has neither begun nor searched for it. */
export const creationOf = ({ creation }: Memory, intent: Intent | undefined): OpenCreation | undefined =>
  creation && creation.intent.nonce === intent?.nonce ? creation : undefined;

/** The open intent of another object. */
export function intentOf({ objects }: Pick<Deps, "objects">, key: ObjectKey): Intent | undefined {
  const object = objects.find(key)?.object;
  return object && openIntent(object);
}

/** The last search for the result of an intent, without what other objects own or are claiming by now. */
export function findings(deps: Deps, subject: Subject, intent: Intent): Search | undefined {
  const { key, kind, memory } = subject;
  const { objects, memories } = deps;
  const creation = creationOf(memory, intent);
  // The Secret with the key is written before the claim.
  const known =
    creation?.phase === "made" ? identityOf(creation.made) : noteWith(deps, subject, intent.nonce)?.resource;
  const alone = { rivals: 1, rank: 0 };
  if (known !== undefined) {
    const now = deps.clock.monotonic();
    const certain = { settledSearches: 1, pending: false, inFlight: false, matches: [known] };
    return { beganAt: now, endedAt: now, ...certain, ...alone };
  }
  if (creation?.phase !== "sent" || !creation.search) return undefined;
  const { matches: found, unseen: _, ...search } = { ...creation.search, foreign: creation.foreign };
  const { account, parents, endpoint } = intent;
  const us = { account, userId: deps.accounts.get(account)?.connection.identity?.userId };
  const contenders = objects.rivals(kind.kind, intent).filter((rival) => rival === key || couldBeOurs(deps, us, rival));
  const { yields } = contestOf(deps, key, kind, intent);
  const states = contenders.map((rival) => {
    const open = intentOf(deps, rival);
    const theirs = open && creationOf(memories.of(rival), open);
    const claiming = rival !== key && theirs?.phase === "made" ? identityOf(theirs.made) : undefined;
    const marked = rival === key || yields.has(rival) ? undefined : open?.found;
    const isRunning = claiming !== undefined || theirs?.phase === "posting";
    return { rival, isRunning, taking: claiming ?? marked };
  });
  const taken = new Set(states.map(({ taking }) => taking));
  const isFree = ([identity, made]: [string, { id: string }]) =>
    !taken.has(identity) && !objects.wasClaimed(kind.kind, { ...made, parents, endpoint }, key);
  const matches = [...found].filter(isFree).map(([identity]) => identity);
  const isRunning = states.some((each) => each.isRunning) || yields.size > 0;
  const inFlight = isRunning || isAnsweredElsewhere(deps, contenders);
  // No other object counts a match that this one has marked.
  if (intent.found !== undefined && matches.includes(intent.found))
    return { ...search, inFlight, matches: [intent.found], ...alone };
  const rivals = states.filter(({ taking }) => taking === undefined).map(({ rival }) => rival);
  return { ...search, inFlight, matches, rivals: rivals.length, rank: rivals.indexOf(key) };
}

/**
 * Two processes may mark the same resource at the same time, each for an object of its own. Each sees both marks before
 * it claims. The object with the younger intent loses and removes its mark; the other one waits for that (`yields`).
 */
export function contestOf(deps: Deps, key: ObjectKey, kind: Kind, intent: Intent) {
  if (intent.found === undefined) return { isLost: false, yields: new Set<ObjectKey>() };
  const all = deps.objects.rivals(kind.kind, intent);
  const others = all.filter((rival) => rival !== key && intentOf(deps, rival)?.found === intent.found);
  const isYounger = (rival: ObjectKey) => all.indexOf(rival) > all.indexOf(key);
  return { isLost: !others.every(isYounger), yields: new Set(others.filter(isYounger)) };
}

/** How long it takes at most until a claim of another shard is written and seen here. */
const CLAIM_MS = 10_000;

/**
 * Whether another shard may be about to claim for one of these intents. It claims the result of its POST before the
 * deadline of the intent; later, it marks a resource before it claims it.
 */
function isAnsweredElsewhere(deps: Deps, contenders: readonly ObjectKey[]): boolean {
  const { clock, memories, settings, shards } = deps;
  if (contenders.length < 2 || !shards.divided()) return false;
  const unsettledSince = clock.monotonic() - settings.createDeadlineMs - CLAIM_MS;
  return contenders.some((rival) => {
    const intent = intentOf(deps, rival);
    const memory = memories.of(rival);
    if (!intent || intent.found !== undefined || creationOf(memory, intent)?.own) return false;
    return (memory.begun?.at ?? clock.monotonic()) > unsettledSince;
  });
}

/** Whether the result of an equal intent could be mistaken for one that this user created with this Account. */
export function couldBeOurs(
  deps: Pick<Deps, "objects" | "accounts">,
  { account, userId }: { account: string; userId: string | undefined },
  rival: ObjectKey,
): boolean {
  const other = intentOf(deps, rival)?.account;
  if (other === account) return true;
  const connectionOf = (key = "") => deps.accounts.get(key)?.connection;
  const [ours, theirs] = [connectionOf(account), connectionOf(other)];
  // An unknown contract or user may be any.
  const same = <T>(one: T | undefined, another: T | undefined) =>
    one === undefined || another === undefined || one === another;
  return same(ours?.contractNumber, theirs?.contractNumber) && same(userId, theirs?.identity?.userId);
}
