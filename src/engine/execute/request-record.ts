import type { Operation } from "../../kinds/desired.ts";
import type { Requeue } from "../../kube/queue/work.ts";
import { reachedTime } from "../../platform/calls/platform-time.ts";
import type { Reply } from "../../platform/calls/transport.ts";
import { products } from "../../platform/products/products.ts";
import type { LoggedRequest, RequestFilter } from "../../platform/products/requests.ts";
import { hashBody, hashText } from "../../runtime/hash.ts";
import { addressOf } from "../accounts/accounts.ts";
import { inProgress } from "../decide/waiting.ts";
import type { Deps } from "../observe/deps.ts";
import { track } from "../observe/resource/pending-request.ts";
import type { Context } from "../observe/view.ts";
import { SKEW_MS, writeKeyOf } from "../state/intent.ts";
import { begunBy } from "../state/memory.ts";
import type { ResourceStatus } from "../status/schema.ts";
import { readStatus, readyOf } from "../status/status.ts";
import { driftSeen, ownership, record, refreshed, type StatusChanges, withWritten } from "../write/record.ts";

/** Records in status that the platform works on this action. */
export const recordProgress = (deps: Deps, context: Context, action: string, changes: StatusChanges) =>
  record(deps, context, { mode: "reconciling", ...inProgress(context.kind, action) }, changes);

/** The parts of a request's record that are needed when it is over. */
const notesOf = (context: Context, marks: Operation["marks"]) => ({
  ...(marks && { marks }),
  ...(isCorrection(context) && { corrects: true }),
});

/** Whether a write corrects drift: the object was Ready with its current spec, or the last write was a correction. */
function isCorrection({ object, status }: Context): boolean {
  if (status.observedGeneration !== (object.metadata.generation ?? 1)) return false;
  return status.request ? status.request.corrects === true : readyOf(object)?.status === "True";
}

/** Records a write in status before it is sent. The next leader finds it there, and can tell it from earlier ones. */
export async function announce(deps: Deps, context: Context, operation: Operation, at: number, nonce?: string) {
  const { action, marks, method, path } = operation;
  // The earlier of both clocks: a search that begins too late would take the write for not executed.
  const now = reachedTime(deps.clock, context.account?.connection);
  // The log also has equal writes of the last minutes. Clocks may differ, so the id of the latest one is recorded.
  const [before] = await logged(context, { method, url: pathOf(path), createdAfter: now - 2 * SKEW_MS });
  const request = {
    action,
    status: "SENDING" as const,
    since: new Date(now).toISOString(),
    by: deps.self,
    ...writeKeyOf(operation),
    ...(nonce !== undefined && { nonce }),
    ...(before && { after: before.id }),
    ...notesOf(context, marks),
  };
  context.memory.begun = { what: begunBy(request), at };
  const changes = { request, ...ownership(context), ...driftSeen(context) };
  return withWritten(context, await recordProgress(deps, context, action, changes));
}

/** Removes the record of a write or an intent that was certainly not executed. */
export async function retract(deps: Deps, context: Context): Promise<Requeue> {
  const { intent, claim } = context.view.resource;
  const action = context.status.request?.action ?? (intent?.succeeds || claim ? "update" : "create");
  const { nonce, revision } = intent ?? context.status;
  await recordProgress(deps, context, action, { request: undefined, refused: undefined, nonce, revision });
  context.shared?.collection.refresh([context.identity]);
  return "now";
}

const pathOf = (path: string): string => path.replace(/\?.*$/, "");

/** The requests in the log of the platform, the latest first. */
async function logged({ kind, account }: Context, filter: RequestFilter): Promise<LoggedRequest[]> {
  if (!account) throw new Error("the platform's log cannot be read without an account");
  const { product } = kind.resource.place;
  const api = addressOf(account, product);
  const found = (await products[product].requests?.(account.connection, api, filter, { priority: "people" })) ?? [];
  return found.toSorted((a, b) => b.createdAt - a.createdAt);
}

/** Searches the log of the platform for a write that was announced and got no answer. */
export async function recall(deps: Deps, context: Context): Promise<Requeue> {
  const { call = "", hash, marks, after, since = "", action = "update" } = context.status.request ?? {};
  const [method = "", url = ""] = call.split(" ");
  const searchedAt = deps.clock.monotonic();
  // `since` was written by the process that announced it, which may have known the platform's clock less well.
  const now = reachedTime(deps.clock, context.account?.connection);
  const createdAfter = Math.min(Date.parse(since) || 0, now) - 2 * SKEW_MS;
  const all = await logged(context, { method, url: pathOf(url), createdAfter });
  const known = all.findIndex(({ id }) => id === after);
  const later = known < 0 ? all : all.slice(0, known);
  const sent = later.find(({ body }) => (hashText(body) ?? hashBody(null)) === hash);
  if (sent?.statusUrl === undefined) context.memory.recalledAt = searchedAt;
  else await follow(deps, context, { action, ...(marks && { marks }) }, { id: sent.id, url: sent.statusUrl });
  return "now";
}

/** Records the request that the platform works on. */
export async function follow(
  deps: Deps,
  context: Context,
  { action, marks }: Pick<Operation, "action" | "marks">,
  sent: Reply["request"],
  changes: Partial<ResourceStatus> = {},
): Promise<void> {
  // An announced write keeps what it is recognised by.
  const { call, hash, since } = context.status.request?.status === "SENDING" ? context.status.request : {};
  const request = {
    ...sent,
    action,
    status: "BUSY" as const,
    since: since ?? new Date(deps.clock.now()).toISOString(),
    ...(call !== undefined && { call, hash }),
    ...notesOf(context, marks),
  };
  const shown = { request, state: "BUSY", ...ownership(context), ...driftSeen(context), ...changes };
  const { id, request: before } = readStatus(context.object);
  // If somebody has edited the object meanwhile, the next pass writes it.
  context.memory.unwritten = { request, at: deps.clock.monotonic(), id, before };
  // After a crash, the log shows the deletion. A record of something else would mislead the next process.
  const isShort = action === "delete" && before === undefined;
  if (!isShort || !products[context.kind.resource.place.product].deletions)
    await recordProgress(deps, context, action, shown);
}

/** So long a deletion is not in status: most are over by then, and need one write fewer. */
const SHORT_MS = 15_000;

/** How long the deletion in memory is not written yet. */
export const shortLeftMs = ({ clock }: Deps, { memory }: Context): number =>
  memory.unwritten?.request.action === "delete" ? memory.unwritten.at + SHORT_MS - clock.monotonic() : 0;

/** Makes the collection track a recorded request, without another pass: it enqueues the object when that is over. */
export function trackNow(deps: Deps, context: Context, request: Reply["request"]): Requeue {
  const { key, kind, account } = context;
  const claim = deps.objects.owned(key);
  if (!request || !account || !claim) return "now";
  const shared = deps.collections.join(key, { account, kind, parents: claim.parents }, claim);
  track(shared, shared.identify(claim), refreshed(deps, context).status);
  const inMs = shortLeftMs(deps, context);
  return inMs > 0 ? { inMs } : "never";
}
