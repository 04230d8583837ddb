import { NotFound } from "../../platform/answers/errors.ts";
import { confirmedBirth, identityOf } from "../../platform/collections/numbered.ts";
import { creatorOf } from "../../platform/collections/reading.ts";
import { hashOfBody, inOrder } from "../../platform/products/requests.ts";
import { type Deps, readLimit } from "../observe/deps.ts";
import { isOurs } from "../observe/resource/lookalike.ts";
import { intentOf } from "../observe/resource/search-results.ts";
import type { Context } from "../observe/view.ts";
import { beginningsOf, type Intent, SKEW_MS, windowOf } from "../state/intent.ts";
import type { Made, SearchResult } from "../state/memory.ts";
import { type AbsenceFacts, isOver, judge, missed } from "../state/presence.ts";
import { knownDeletion } from "./confirm.ts";

/** Searches the request log by body, collection and time, then reads each match: it must exist and be of our user. */
export async function search(
  deps: Deps,
  { key: searcher, kind, account, shared }: Pick<Context, "key" | "kind" | "account" | "shared">,
  { settledAt, deleting }: { settledAt: number; deleting: boolean },
  intent: Intent,
  before: SearchResult | undefined,
): Promise<SearchResult> {
  if (!account || !shared) throw new Error("a search needs the account and the collection");
  const userId = account.connection.identity?.userId;
  // One window for each clock. Objects with equal intents search the same period: otherwise an old one could claim the
  // result of a young one, which then would not find that of the old one.
  const rivals = deps.objects.rivals(kind.kind, intent);
  const begun = rivals.map((key) => beginningsOf(intentOf(deps, key) ?? intent));
  const begunAt = Math.min(...beginningsOf(intent));
  const windows = beginningsOf(intent).map((at, clock) => {
    const { earliest, latest } = windowOf(deps, { at, by: intent.by });
    return { earliest: Math.min(...begun.map((times) => (times[clock] ?? at) - SKEW_MS), earliest), latest };
  });
  const createdAfter = Math.min(...windows.map(({ earliest }) => earliest));
  const isInTime = (at: number) => windows.some(({ earliest, latest }) => at >= earliest && at <= latest);
  const beganAt = deps.clock.monotonic();
  let pending = false;
  const unseen = new Map<string, AbsenceFacts>();
  const matches = new Map<string, Made>();
  /** A result in the log exists until it is deleted or missing, like a claimed resource. */
  const isAwaited = async (id: string, missingMs = deps.settings.missingMs): Promise<boolean> => {
    const isEarly = beganAt < settledAt;
    const member = { id, parents: intent.parents };
    const logs = isEarly ? { logged: false } : await knownDeletion({ kind, account }, shared, member, begunAt);
    const facts = missed(before?.unseen.get(id), { at: beganAt, credible: !shared.lacksMany(), logs });
    unseen.set(id, facts);
    return isEarly || !isOver(judge(facts, { missingMs }));
  };
  // Where members are hidden, the log may be hidden as well.
  const settledSearches = beganAt >= settledAt && !shared.lacksMany() ? (before?.settledSearches ?? 0) + 1 : 0;
  const found = { beganAt, settledSearches, matches, unseen };
  const done = (): SearchResult => ({ ...found, endedAt: deps.clock.monotonic(), pending });

  const { names, identity, place, creation } = kind.resource;
  const within = { parents: intent.parents, endpoint: intent.endpoint };
  const path = (creation.path ?? place.collection)(intent.parents);
  const log = await shared
    .log(path)(createdAfter)
    .catch((error: unknown) => {
      if (error instanceof NotFound) return undefined;
      throw error;
    });
  if (!log) {
    // The parent is missing. If that stays so, nothing was created.
    pending = await isAwaited("", deleting ? deps.settings.settleMs : undefined);
    return done();
  }
  const sorted = inOrder(log.requests);
  // A number may have been reused: it belongs to the last request.
  const makers = new Map(sorted.flatMap(({ id, targets }) => targets.map((target) => [target.id, id] as const)));
  // A request without a time may be from any time.
  for (const logged of sorted.filter(({ createdAt }) => isInTime(createdAt) || !Number.isFinite(createdAt))) {
    const { id, statusUrl, status, targets, createdByUserId } = logged;
    if (hashOfBody(logged, identity.echo) !== intent.hash || status === "FAILED" || !isOurs(createdByUserId, userId))
      continue;
    // Accepted, and its id is not known yet.
    if (targets.length === 0 && status !== undefined && status !== "DONE") pending = true;
    for (const target of targets) {
      if (target.type !== undefined && target.type !== names.type) continue;
      if (makers.get(target.id) !== id || intent.seen?.includes(target.id)) continue;
      if (deps.objects.wasClaimed(kind.kind, { id: target.id, ...within }, searcher)) continue;
      const item = await log.read(target.id, readLimit());
      const seen = item && { id: target.id, raw: item.raw };
      const born = seen && (await confirmedBirth(shared, seen, readLimit()));
      const request = statusUrl === undefined ? undefined : { id, url: statusUrl };
      const notBefore = intent.seen ? undefined : new Date(createdAfter).toISOString();
      const made = { id: target.id, born, notBefore, request };
      // The previous resource of a reused number may still be visible, or claimed.
      const owned = deps.objects.wasClaimed(kind.kind, { ...made, ...within }, searcher);
      if (item && !owned && isOurs(creatorOf(item.raw), userId)) matches.set(identityOf(made), made);
      if ((item && !owned) || [...(before?.matches.values() ?? [])].some((known) => known.id === target.id)) continue;
      // Accepted and not visible yet: another search must follow.
      if ((await isAwaited(target.id)) || status !== "DONE") pending = true;
    }
  }
  return done();
}
