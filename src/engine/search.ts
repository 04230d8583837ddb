import { z } from "zod";
import type { Deps } from "./deps.ts";
import { hashText, type Intent } from "./intent.ts";
import { openIntent } from "./objects.ts";
import { products } from "./products.ts";
import type { Scene } from "./view.ts";

/** Clocks of the platform, of this machine and of other leaders may differ by so much. */
export const SKEW_MS = 120_000;

const metadata = z.looseObject({
  metadata: z.looseObject({ createdDate: z.string().nullish(), createdByUserId: z.string().nullish() }).nullish(),
});

/**
 * Looks for what the creation of an open intent made: in the platform's own log of requests, by the exact body, the
 * collection's address and the time, and then at each resource itself, which has to be there and created by our user.
 * What was found, and when the look began, is remembered for the next decision.
 */
export async function search(deps: Deps, scene: Scene, intent: Intent): Promise<void> {
  const { kind, account, shared, memory } = scene;
  if (!account || !shared) throw new Error("a search needs the account and the collection");
  const access = products[kind.resource.product];
  const userId = account.connection.identity?.userId;
  // Equals look back equally far and count in the same order. Else an old one takes what a young one made, and the
  // young one does not see what the old one left.
  const equals = deps.objects.rivals(kind.kind, intent).map((key) => deps.objects.find(key)?.object);
  const begun = equals.map((object) => Date.parse((object && openIntent(object)?.at) ?? intent.at));
  const createdAfter = Math.min(...begun, Date.parse(intent.at)) - SKEW_MS;
  const lookedAt = deps.clock.now();
  let pending = false;
  const log = await access.creations?.(
    account.connection,
    account.endpoint(access.endpoint),
    shared.path,
    createdAfter,
  );
  const before = memory.search?.nonce === intent.nonce ? memory.search.requests : {};
  const requests: Record<string, { id: string; url: string }> = {};
  const sorted = (log ?? []).toSorted((a, b) => a.createdAt - b.createdAt || a.id.localeCompare(b.id));
  for (const { id, statusUrl, body, status, targets, createdByUserId } of sorted) {
    if (hashText(body) !== intent.hash || status === "FAILED" || !isOurs(createdByUserId, userId)) continue;
    // Accepted, and not even its id is known yet.
    if (targets.length === 0 && status !== undefined && status !== "DONE") pending = true;
    for (const target of targets) {
      if (target.type !== undefined && target.type !== kind.resource.noun) continue;
      if (deps.objects.wasClaimed(kind.kind, { id: target.id, parents: intent.parents })) continue;
      const item = await shared.source.get?.(target.id, AbortSignal.timeout(deps.settings.createDeadlineMs));
      if (item && isOurs(creatorOf(item.raw), userId)) requests[target.id] = { id, url: statusUrl };
      // Accepted and not visible yet, which may outlast the request: this look cannot be the last one.
      const unseen = !item && !Object.hasOwn(before, target.id);
      if (unseen && (status !== "DONE" || lookedAt < scene.view.settledAt)) pending = true;
    }
  }
  memory.search = { nonce: intent.nonce, lookedAt, endedAt: deps.clock.now(), pending, requests };
}

function creatorOf(raw: unknown): string | undefined {
  return metadata.safeParse(raw).data?.metadata?.createdByUserId ?? undefined;
}

/** Where either side does not say who it is, the rest has to do. */
function isOurs(creator: string | undefined, userId: string | undefined): boolean {
  return userId === undefined || creator === undefined || creator === userId;
}
