import { z } from "zod";
import type { Operation } from "../../kinds/desired.ts";
import { spellingOf } from "../../platform/addresses/endpoints.ts";
import { hashBody } from "../../runtime/hash.ts";
import { recalled } from "../../runtime/lru.ts";
import { unlessThrown } from "../../runtime/unless-thrown.ts";
import { type Author, author, type Waiting } from "../status/author.ts";
import { known } from "../status/schema.ts";

/** How far the platform's clocks may differ from our estimate of them, and from each other. */
export const SKEW_MS = 120_000;

const intent = z.object({
  nonce: z.string().min(1),
  /** Higher than that of every earlier intent and claim of the object. */
  revision: z.int().optional(),
  /** When the creation was begun, by the platform's clock, which dates its log. */
  at: z.iso.datetime(),
  /** The same by our own clock, where that differs much: one of the two is wrong, and nobody knows which. */
  ownAt: z.iso.datetime().optional(),
  by: author,
  /** Hash of the creation body. */
  hash: z.string().min(1),
  parents: z.record(z.string(), z.string()),
  account: z.string(),
  /** Where the creation was sent, and the platform's user who sent it. */
  endpoint: z.string().transform(spellingOf),
  userId: z.string().optional(),
  /** Hashes of the fields that the platform cannot change, and of Secrets and lookups, as they are sent. */
  fixed: z.record(z.string(), z.string()),
  /** Ids of equal resources that existed before, where nothing else tells them from the new one. */
  seen: z.array(z.string()).optional(),
  /** Identity of the resource that a search has found and the object is about to claim: other shards leave it alone. */
  found: z.string().min(1).optional(),
  /** Id of the resource that the object keeps until the replacement exists. */
  succeeds: z.string().optional(),
});

/**
 * A creation whose outcome may be unknown. It is written before the POST and answered by `status.internal.nonce`. It has all that
 * recovery needs, because spec may change meanwhile.
 */
export type Intent = z.output<typeof intent>;

/** The time in which a creation can make its resource, by the platform's clock. A resource from another time is not its result. */
export function windowOf({ settings }: Waiting, { at, by }: { at: number; by: Author }) {
  const earliest = at - SKEW_MS;
  const latest = at + by.deadlineMs + settings.settleMs + 2 * SKEW_MS;
  return { earliest, latest, has: (then: number) => then >= earliest && then <= latest };
}

/** Whether the first is at least as new as the second. One without a revision is older than any that has one. */
export const isAsNew = (one: { revision?: unknown }, other: { revision?: unknown }): boolean =>
  Number(one.revision ?? 0) >= Number(other.revision ?? 0);

/** When a creation was begun, by either clock. */
export const beginningsOf = ({ at, ownAt = at }: Pick<Intent, "at" | "ownAt">): number[] => [at, ownAt].map(Date.parse);

/** Whether this creation can have made what was made then. A time that cannot be read may be any. */
export const canMake = (waiting: Waiting, intent: Intent, then: number): boolean =>
  Number.isNaN(then) || beginningsOf(intent).some((at) => windowOf(waiting, { at, by: intent.by }).has(then));

const claim = known
  .pick({ id: true, parents: true, account: true, endpoint: true })
  .required()
  .extend({ endpoint: intent.shape.endpoint })
  .extend(known.pick({ contract: true, userId: true, born: true, adoptedAt: true, notBefore: true }).shape)
  .extend(known.pick({ onlyObserved: true, revision: true }).shape);

/** Which resource an object owns, or names. */
export type Claim = z.output<typeof claim>;

/** The earliest date that the result of this creation can have, by either clock. Where ids were noted before, those tell. */
export const notBefore = ({ seen, ...intent }: Intent): string | undefined =>
  seen ? undefined : new Date(Math.min(...beginningsOf(intent)) - SKEW_MS).toISOString();

/** Picks the claim from the fields of a status. */
export const claimIn = (status: Claim): Claim => claim.parse(status);

/** Reads an annotation; an invalid one counts as absent. Versions of an object repeat it. */
const reader = <T>(schema: z.ZodType<T>) =>
  recalled((text: string | undefined) => unlessThrown(() => schema.parse(JSON.parse(text ?? ""))));
export const readIntent = reader(intent);
export const readClaim = reader(claim);

/** How a write is recognised, in status and in the platform's log. */
export const writeKeyOf = ({ method, path, body }: Pick<Operation, "method" | "path" | "body">) => ({
  call: `${method} ${path}`,
  hash: hashBody(body ?? null),
});
