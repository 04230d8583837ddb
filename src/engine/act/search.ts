import { z } from "zod";
import type { Identity } from "../../kinds/kind.ts";
import type { LoggedRequest } from "../../platform/requests.ts";
import type { Deps } from "../look/deps.ts";
import type { Scene } from "../look/view.ts";
import { hashText, type Intent, SKEW_MS } from "../objects/intent.ts";
import type { Memory } from "../objects/memory.ts";
import { type ObjectKey, openIntent } from "../objects/objects.ts";
import { readStatus } from "../schema/status.ts";

/** What a search needs to know of the object. */
type Searching = Pick<Scene, "kind" | "account" | "shared" | "memory"> & { view: Pick<Scene["view"], "settledAt"> };

const metadata = z.looseObject({
  metadata: z.looseObject({ createdByUserId: z.string().nullish() }).nullish(),
});

/**
 * Looks for what the creation of an open intent made: in the platform's own log of requests, by the exact body, the
 * collection's address and the time, and then at each resource itself, which has to be there and created by our user.
 * What was found, and when the look began, is remembered for the next decision.
 */
export async function search(deps: Deps, scene: Searching, intent: Intent): Promise<void> {
  const { kind, account, shared, memory } = scene;
  if (!account || !shared) throw new Error("a search needs the account and the collection");
  const userId = account.connection.identity?.userId;
  // Equals look back equally far and count in the same order. Else an old one takes what a young one made, and the
  // young one does not see what the old one left.
  const equals = deps.objects.rivals(kind.kind, intent).map((key) => deps.objects.find(key)?.object);
  const begun = equals.map((object) => Date.parse((object && openIntent(object)?.at) ?? intent.at));
  const createdAfter = Math.min(...begun, Date.parse(intent.at)) - SKEW_MS;
  const lookedAt = deps.clock.now();
  let pending = false;
  const { names, identity, place: where, creation } = kind.resource;
  const log = await shared.log((creation.path ?? where.collection)(intent.parents))(createdAfter);
  const before = memory.search?.nonce === intent.nonce ? memory.search : undefined;
  const unseen: NonNullable<Memory["search"]>["unseen"] = {};
  const requests: NonNullable<Memory["search"]>["requests"] = {};
  const sorted = log.requests.toSorted((a, b) => a.createdAt - b.createdAt || a.id.localeCompare(b.id));
  // A number that became free may have been given away again: it is the last one's.
  const makers = new Map(sorted.flatMap(({ id, targets }) => targets.map((target) => [target.id, id] as const)));
  for (const logged of sorted) {
    const { id, statusUrl, status, targets, createdByUserId } = logged;
    if (hashOf(logged, identity.echo) !== intent.hash || status === "FAILED" || !isOurs(createdByUserId, userId))
      continue;
    // Accepted, and not even its id is known yet.
    if (targets.length === 0 && status !== undefined && status !== "DONE") pending = true;
    for (const target of targets) {
      if (target.type !== undefined && target.type !== names.type) continue;
      if (makers.get(target.id) !== id) continue;
      const place = { id: target.id, parents: intent.parents };
      if (deps.objects.wasClaimed(kind.kind, place, lookedAt)) {
        // Whose number is given away again may not have heard yet that its own is gone.
        if (identity.reusesIds && deps.objects.claimants(kind.kind, place).some((key) => awaits(deps, key)))
          pending = true;
        continue;
      }
      const item = await log.read(target.id, AbortSignal.timeout(deps.settings.createDeadlineMs));
      if (item && isOurs(creatorOf(item.raw), userId))
        requests[target.id] = statusUrl === undefined ? undefined : { id, url: statusUrl };
      if (item || (before && Object.hasOwn(before.requests, target.id))) continue;
      // Accepted and not visible yet, which may outlast the request: this look cannot be the last one. The platform may
      // have taken its time to accept it, so that the time to become visible counts from when that was first known.
      const since = before?.unseen[target.id] ?? lookedAt;
      unseen[target.id] = since;
      const settledAt = Math.max(scene.view.settledAt, since + deps.settings.settleMs);
      if (status !== "DONE" || lookedAt < settledAt) pending = true;
    }
  }
  memory.search = { nonce: intent.nonce, lookedAt, endedAt: deps.clock.now(), pending, requests, unseen };
}

/** Whether the object has a request under way. */
function awaits({ objects }: Deps, key: ObjectKey): boolean {
  const found = objects.find(key);
  const { request } = found ? readStatus(found.object) : {};
  return request !== undefined && request.status !== "FAILED";
}

/** Hundreds may share one listing of hundreds: each body in it is hashed once. */
const hashes = new WeakMap<LoggedRequest, { hash: string | undefined }>();

function hashOf(logged: LoggedRequest, echo?: Identity["echo"]): string | undefined {
  const known = hashes.get(logged) ?? { hash: hashText(logged.body, echo) };
  hashes.set(logged, known);
  return known.hash;
}

function creatorOf(raw: unknown): string | undefined {
  return metadata.safeParse(raw).data?.metadata?.createdByUserId ?? undefined;
}

/** Where either side does not say who it is, the rest has to do. */
function isOurs(creator: string | undefined, userId: string | undefined): boolean {
  return userId === undefined || creator === undefined || creator === userId;
}
