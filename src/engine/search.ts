import { z } from "zod";
import type { Deps } from "./deps.ts";
import { hashText, type Intent } from "./intent.ts";
import { products } from "./products.ts";
import type { Scene } from "./view.ts";

/** Clocks of the platform and of this machine may differ by so much. */
const SKEW_MS = 120_000;

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
  const createdAfter = Date.parse(intent.at) - SKEW_MS;
  let lookedAt = deps.clock.now();
  const log = await access.creations?.(
    account.connection,
    account.endpoint(access.endpoint),
    shared.path,
    createdAfter,
  );
  const requests: Record<string, { id: string; url: string }> = {};
  for (const { id, url, body, status, targets } of log ?? []) {
    if (hashText(body) !== intent.hash || status === "FAILED") continue;
    for (const target of targets) {
      if (target.type !== undefined && target.type !== kind.resource.noun) continue;
      const item = await shared.source.get?.(target.id, AbortSignal.timeout(deps.settings.createDeadlineMs));
      if (item && madeByUs(item.raw, account.connection.identity?.userId)) requests[target.id] = { id, url };
      // Accepted and not visible yet: this look cannot be the last one.
      if (!item && status !== "DONE") lookedAt = 0;
    }
  }
  memory.search = { nonce: intent.nonce, lookedAt, ids: Object.keys(requests), requests };
}

function madeByUs(raw: unknown, userId: string | undefined): boolean {
  const creator = metadata.safeParse(raw).data?.metadata?.createdByUserId;
  return userId === undefined || creator == null || creator === userId;
}
