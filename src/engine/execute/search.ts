import type { Identity } from "../../kinds/kind.ts";
import { NotFound } from "../../platform/answers/errors.ts";
import { identityOf } from "../../platform/collections/numbered.ts";
import type { LoggedRequest } from "../../platform/products/requests.ts";
import { hashText } from "../../runtime/hash.ts";
import { createSlot } from "../../runtime/memo.ts";
import { type Deps, readLimit } from "../observe/deps.ts";
import { creatorOf, isOurs } from "../observe/lookalike.ts";
import type { Context } from "../observe/view.ts";
import { confirmedBirth } from "../state/identity.ts";
import { type Intent, SKEW_MS, windowOf } from "../state/intent.ts";
import type { Made, SearchResult } from "../state/memory.ts";
import { openIntent } from "../state/object.ts";
import { type AbsenceFacts, isOver, judge, missed } from "../state/presence.ts";
import { deletionIn } from "./confirm.ts";

/** What a search needs to know of the object. */
type Searching = Pick<Context, "key" | "kind" | "account" | "shared"> & {
  view: Pick<Context["view"], "settledAt" | "deleting">;
};

/**
 * Looks for what the creation of an open intent made: in the platform's own log of requests, by the exact body, the
 * collection's address and the time, and then at each resource itself, which has to be there and created by our user.
 */
export async function search(
  deps: Deps,
  { key: searcher, kind, account, shared, view }: Searching,
  intent: Intent,
  before: SearchResult | undefined,
): Promise<SearchResult> {
  if (!account || !shared) throw new Error("a search needs the account and the collection");
  const userId = account.connection.identity?.userId;
  // Equals look back equally far and count in the same order. Else an old one takes what a young one made, and the
  // young one does not see what the old one left.
  const equals = deps.objects.rivals(kind.kind, intent).map((key) => deps.objects.find(key)?.object);
  const begun = equals.map((object) => Date.parse((object && openIntent(object)?.at) ?? intent.at));
  const { earliest, latest: createdBefore } = windowOf(deps, { at: Date.parse(intent.at), by: intent.by });
  const createdAfter = Math.min(...begun.map((at) => at - SKEW_MS), earliest);
  const lookedAt = deps.clock.monotonic();
  let pending = false;
  const unseen = new Map<string, AbsenceFacts>();
  const matches = new Map<string, Made>();
  /** What the log tells of was made. It is given up when it is deleted or missing, as what is claimed would be. */
  const isAwaited = async (id: string, missingMs = deps.settings.missingMs): Promise<boolean> => {
    const isEarly = lookedAt < view.settledAt;
    const { parents } = intent;
    const logs = isEarly ? UNASKED : await deletionIn({ kind, account }, shared, { id, parents }, intent);
    const facts = missed(before?.unseen.get(id), { at: lookedAt, credible: !shared.lacksMany(), logs });
    unseen.set(id, facts);
    return isEarly || !isOver(judge(facts, { missingMs }));
  };
  const looks = lookedAt >= view.settledAt ? (before?.looks ?? 0) + 1 : 0;
  const done = (): SearchResult => ({ lookedAt, endedAt: deps.clock.monotonic(), looks, pending, matches, unseen });

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
    // What it was to live under is not there: when that stays so, nothing was made. Nothing more is created under it by a deletion.
    pending = await isAwaited("", view.deleting ? deps.settings.settleMs : undefined);
    return done();
  }
  const sorted = log.requests.toSorted((a, b) => a.createdAt - b.createdAt || a.id.localeCompare(b.id));
  // A number that became free may have been given away again: it is the last one's.
  const makers = new Map(sorted.flatMap(({ id, targets }) => targets.map((target) => [target.id, id] as const)));
  // Where the platform does not say when, it may have been at any time.
  for (const logged of sorted.filter(({ createdAt }) => createdAt <= createdBefore || !Number.isFinite(createdAt))) {
    const { id, statusUrl, status, targets, createdByUserId } = logged;
    if (hashOf(logged, identity.echo) !== intent.hash || status === "FAILED" || !isOurs(createdByUserId, userId))
      continue;
    // Accepted, and not even its id is known yet.
    if (targets.length === 0 && status !== undefined && status !== "DONE") pending = true;
    for (const target of targets) {
      if (target.type !== undefined && target.type !== names.type) continue;
      if (makers.get(target.id) !== id || intent.seen?.includes(target.id)) continue;
      if (deps.objects.wasClaimed(kind.kind, { id: target.id, ...within }, searcher)) continue;
      const item = await log.read(target.id, readLimit());
      const seen = item && { id: target.id, raw: item.raw };
      const born = seen && (await confirmedBirth(kind, shared, seen, readLimit()));
      const made = { id: target.id, born, request: statusUrl === undefined ? undefined : { id, url: statusUrl } };
      // Under a number that is given away again, the one before may still be seen, or may have been claimed.
      const owned = deps.objects.wasClaimed(kind.kind, { ...made, ...within }, searcher);
      if (item && !owned && isOurs(creatorOf(item.raw), userId)) matches.set(identityOf(made), made);
      if ((item && !owned) || [...(before?.matches.values() ?? [])].some((known) => known.id === target.id)) continue;
      // Accepted and not visible yet, which may outlast the request: this look cannot be the last one.
      if ((await isAwaited(target.id)) || status !== "DONE") pending = true;
    }
  }
  return done();
}

const UNASKED = { logged: false };

/** Hundreds may share one listing of hundreds: each body in it is hashed once. */
const hashes = createSlot<LoggedRequest, { hash: string | undefined }>();

function hashOf(logged: LoggedRequest, echo?: Identity["echo"]): string | undefined {
  const known = hashes.get(logged) ?? { hash: hashText(logged.body, echo) };
  hashes.set(logged, known);
  return known.hash;
}
