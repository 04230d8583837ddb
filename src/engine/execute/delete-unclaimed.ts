import type { ResourceKind } from "../../kinds/kind.ts";
import { type KubeObject, pathOf } from "../../kube/resource.ts";
import { compareVersions } from "../../kube/watch/version.ts";
import { NotFound, PlatformError, Terminal } from "../../platform/answers/errors.ts";
import { misanswer, nothingDeleted } from "../../platform/collections/misanswer.ts";
import { sleep } from "../../runtime/clock.ts";
import { unlessThrown } from "../../runtime/unless-thrown.ts";
import { urlOf } from "../accounts/accounts.ts";
import { believedFor, type Deps, readLimit } from "../observe/deps.ts";
import type { Context } from "../observe/view.ts";
import type { Begun, Made, Memory, OpenCreation, SearchResult } from "../state/memory.ts";
import { FINALIZER } from "../state/names.ts";
import { claimOf, type Place, resourceOf } from "../state/object.ts";
import { policiesOf } from "../state/policies.ts";
import { mayBeHidden } from "../state/presence.ts";
import { settledAt } from "../status/author.ts";
import { READ_MS } from "./confirm.ts";
import { memberPath } from "./inside.ts";
import { search } from "./search.ts";

/** The object whose creation is undone, and the Account of the creation. */
type Undone = Pick<Context, "key" | "kind" | "account" | "object">;

const GIVE_UP_MS = 600_000;

/** The result of a young creation may not be visible yet. */
const isYoung = ({ settings, clock }: Deps, { begunAt }: Begun): boolean =>
  mayBeHidden(begunAt, clock.monotonic(), believedFor(settings));

/** Deletes a resource that only this process knows of. Tries until the platform accepts: no object would try again. */
export async function deleteUnclaimed(deps: Deps, undone: Undone, begun: Begun, made: Made, why: string) {
  const { key, kind, account, object } = undone;
  if (!account) return;
  const { id, born } = made;
  const { parents, endpoint, userId } = begun.intent;
  deps.objects.excludeFromSearches(kind.kind, { id, born, parents, endpoint });
  const { product } = kind.resource.place;
  const url = urlOf(account, product, `${memberPath(kind, { id, parents })}${queryOf(kind, object)}`);
  const byHand = "and no object owns it: adopt it with externalId, or delete it by hand";
  deps.log.warn({ object: key, id }, `${why}: deleting the ${kind.kind} that it created`);
  const { monotonic } = deps.clock;
  const giveUpAt = monotonic() + GIVE_UP_MS;
  let wrong: string | undefined;
  for (let waitMs = 500; monotonic() < giveUpAt; waitMs = Math.min(waitMs * 2, 10_000)) {
    try {
      if (await isRestored(deps, undone, begun)) return deps.log.error({ object: key, id }, leftOnPlatform(kind.kind));
      // A search may have given it to an object with an equal intent.
      if (await isOwned(deps, kind, { id, parents, endpoint })) return;
      const item = await deps.collections.member({ account, kind, parents }, id, readLimit());
      wrong = misanswer(kind.kind, { ...made, userId }, item?.raw);
      const deletion = { method: "DELETE", url, object: key, product, priority: "people" } as const;
      if (wrong === undefined) return void (await account.connection.send(deletion));
    } catch (error) {
      if (error instanceof NotFound && !isYoung(deps, begun)) return;
      if (error instanceof Terminal && !error.busy)
        return deps.log.error({ object: key, id, err: error }, `orphaned ${kind.kind} cannot be deleted, ${byHand}`);
    }
    await sleep(deps.clock, waitMs);
  }
  const orphaned = `orphaned ${kind.kind} could not be deleted, ${byHand}`;
  deps.log.error({ object: key, id }, wrong === undefined ? orphaned : nothingDeleted(kind.kind, id));
}

/** Whether the API server was restored to a time before the creation. Then nobody asked for a deletion. */
async function isRestored(deps: Deps, { kind, object }: Undone, { begunAt }: Begun): Promise<boolean> {
  const { client, clock } = deps;
  const { rewound } = deps.memories;
  const { namespace, resourceVersion = "" } = object.metadata;
  const path = pathOf(resourceOf(kind), { namespace });
  const list = { method: "GET", path, query: { limit: "1" } } as const;
  const { metadata } = await client.request<{ metadata?: { resourceVersion?: string } }>(list);
  const now = metadata?.resourceVersion;
  if (now !== undefined && compareVersions(now, resourceVersion) < 0) rewound.at = clock.monotonic();
  return rewound.at !== undefined && rewound.at >= begunAt;
}

export const leftOnPlatform = (kind: string): string =>
  `the API server was restored from a backup that does not have this object: its ${kind} stays on the platform; to go on with it, create the object again with spec.externalId set to the id`;

/** If spec cannot be read, only the resource itself is deleted. */
const queryOf = ({ resource }: ResourceKind, { spec }: KubeObject): string =>
  unlessThrown(() => resource.desire(spec).query) ?? "";

/** Whether an object owns this resource. Reads the API server, because the store may be old. */
async function isOwned(deps: Deps, kind: ResourceKind, place: Place): Promise<boolean> {
  const path = memberPath(kind, place);
  const owns = (object: KubeObject) => {
    deps.seal.judge(kind.kind, object);
    const owned = claimOf(object);
    return owned?.endpoint === place.endpoint && memberPath(kind, owned) === path;
  };
  const spaces = new Set([...deps.objects.store(kind.kind).values()].map(({ metadata }) => metadata.namespace));
  for (const namespace of spaces) {
    const list = { method: "GET", path: pathOf(resourceOf(kind), { namespace }) } as const;
    const { items } = await deps.client.request<{ items: KubeObject[] }>(list);
    if (items.some(owns)) return true;
  }
  return false;
}

/**
 * Whether the API server dropped an object despite its finalizer. That happens when an object is deleted at the moment it
 * gets its finalizer, during its creation (kubernetes/kubernetes#77988); it never has a deletionTimestamp. An older
 * object that disappears like this was removed from the storage of the API server by hand.
 */
export function isDropped(deps: Deps, { metadata }: KubeObject, { creation }: Memory): boolean {
  const finalized = metadata.finalizers?.includes(FINALIZER) === true;
  return creation !== undefined && isYoung(deps, creation) && finalized && metadata.deletionTimestamp === undefined;
}

/** Whether a creation is over and will not be undone. */
export const isFinal = (deps: Deps, creation: OpenCreation): boolean =>
  creation.phase === "claimed" && !isYoung(deps, creation);

const GONE = "the object was deleted during its creation";

/** Undoes the last creation of an object that is gone. */
export function undo(deps: Deps, undone: Undone & Pick<Context, "memory">): void {
  const { memory, object } = undone;
  const { creation } = memory;
  memory.creation = undefined;
  if (!creation || creation.phase === "unsent" || policiesOf(object).deletionPolicy === "Retain") return;
  const undoing =
    "made" in creation
      ? deleteUnclaimed(deps, undone, creation, creation.made, GONE)
      : abandonUnanswered(deps, undone, creation);
  deps.runCleanup(undoing, creation.intent.account);
}

/** Searches for the result of a creation without an answer, and deletes it if it is the only one that is left over. */
async function abandonUnanswered(deps: Deps, undone: Undone, begun: Begun): Promise<void> {
  const { key, kind, account } = undone;
  const { intent } = begun;
  if (!account) return;
  // A key of its own: a new object may have the name of the one that is gone.
  const visitor = `${key}?${intent.nonce}`;
  const shared = deps.collections.join(visitor, { account, kind, parents: intent.parents });
  const searcher = { key: visitor, kind, account, shared };
  let last: SearchResult | undefined;
  const settled = settledAt(deps, intent.by, begun.begunAt);
  const isOpen = () =>
    !last || last.beganAt <= settled || last.pending || deps.objects.rivals(kind.kind, intent).some(deps.objects.find);
  const giveUpAt = settled + GIVE_UP_MS;
  deps.objects.noteIntent(visitor, kind.kind, intent);
  try {
    while (isOpen() && deps.clock.monotonic() < giveUpAt) {
      await sleep(deps.clock, READ_MS);
      try {
        last = await search(deps, searcher, { settledAt: settled, deleting: true }, intent, last);
      } catch (error) {
        if (!(error instanceof PlatformError)) throw error;
      }
    }
  } finally {
    deps.collections.leave(visitor);
    deps.objects.noteIntent(visitor, kind.kind, undefined);
  }
  const found = [...(last?.matches.values() ?? [])];
  const [made] = found;
  if (made && found.length === 1) return deleteUnclaimed(deps, undone, begun, made, GONE);
  if (!made && !isOpen()) return;
  const message = `${GONE}; the ${kind.kind} that it created, if any, cannot be identified: delete it by hand`;
  deps.log.error({ object: key, found: found.map(({ id }) => id) }, message);
}
