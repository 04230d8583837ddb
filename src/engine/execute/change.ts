import type { Operation } from "../../kinds/desired.ts";
import type { Requeue } from "../../kube/queue/work.ts";
import { NotFound } from "../../platform/answers/errors.ts";
import { platformTime } from "../../platform/calls/platform-time.ts";
import type { Reply } from "../../platform/calls/transport.ts";
import { products } from "../../platform/products/products.ts";
import type { LoggedRequest, RequestFilter } from "../../platform/products/requests.ts";
import { hashBody, hashText } from "../../runtime/hash.ts";
import { addressOf, urlOf } from "../accounts/accounts.ts";
import { inProgress } from "../decide/waiting.ts";
import { backoffMs, type Deps, readLimit } from "../observe/deps.ts";
import { sources } from "../observe/fixed-fields.ts";
import { notPublic } from "../observe/ownership.ts";
import type { Resolved } from "../observe/references.ts";
import type { Context } from "../observe/view.ts";
import { deliver, keepKey, obstacleToKey, obstructed } from "../secrets/keys.ts";
import { markOf, SKEW_MS } from "../state/intent.ts";
import { begunBy, isAccepted } from "../state/memory.ts";
import type { ResourceStatus } from "../status/schema.ts";
import { notesOf } from "../write/outcome.ts";
import {
  comparison,
  ownership,
  record,
  recordFailure,
  recordPlatformError,
  refreshed,
  withWritten,
} from "../write/record.ts";
import { journaled } from "./journal.ts";
import { complete, redact } from "./lookups.ts";
import { watched } from "./watched.ts";

/** Sends one write. */
export async function update(deps: Deps, context: Context, operation: Operation): Promise<Requeue> {
  const { action, note } = operation;
  const { object, desired, account } = context;
  const ready = await prepare(deps, context, operation);
  if ("obstacle" in ready) return recordFailure(deps, context, ready.obstacle);
  const { body, ...kept } = ready.value;
  const foreign = desired && (await notPublic(deps, { object, desired, account }, body));
  if (foreign) return recordFailure(deps, context, foreign);
  const { observation } = context.view;
  const { comparison } = observation.seen === "present" ? observation : {};
  // A last write before a deletion has nothing to do with what differs from spec.
  const drift = comparison?.next === operation ? comparison.drift.map(({ field }) => field) : [];
  const fields = operation.fields ?? drift;
  const taken = () => {
    noteAccepted(deps, context, operation);
    const about = fields.length > 0 ? `: ${fields.join(", ")}` : "";
    const hint = note === undefined ? "" : `; ${note}`;
    deps.events.record(context.object, "Normal", "Updated", `asked the platform to ${action}${about}${hint}`);
  };
  return perform(deps, context, { ...operation, body }, { taken, ...kept });
}

/** Until its effect is seen, the same write is sent again only after a pause, which doubles each time. */
function noteAccepted(deps: Deps, { memory, object, view }: Context, operation: Operation): void {
  const mark = markOf(operation);
  const before = view.accepted && isAccepted(view.accepted, mark) ? view.accepted.times : 0;
  const { generation = 1 } = object.metadata;
  const at = deps.clock.monotonic();
  memory.accepted = { mark, generation, times: before + 1, at, retryAt: at + backoffMs(deps.settings, before) };
}

/** What a write says, what is on record once it was taken, and how to keep to oneself what is secret in it. */
interface Prepared {
  body: unknown;
  changes?: Partial<ResourceStatus>;
  hide?: (text: string) => string;
}

async function prepare(
  deps: Deps,
  { kind, object, status, desired, account, inputs }: Context,
  { body, resolve }: Operation,
): Promise<Resolved<Prepared>> {
  if (!resolve || !desired || !account || !inputs) return { value: { body } };
  const ready = await complete(deps, object, { account, desired }, inputs);
  if ("obstacle" in ready) return ready;
  const kept = Object.entries(status.fixed ?? {}).filter(([field]) => field in kind.immutable);
  const fixed = { ...Object.fromEntries(kept), ...sources(kind, desired, ready.value) };
  const hide = (text: string) => redact(text, ready.value);
  return { value: { body: resolve(ready.value), changes: { fixed }, hide } };
}

export async function remove(deps: Deps, context: Context, action: "delete" | "replace"): Promise<Requeue> {
  const { kind, view, object, shared } = context;
  const owned = view.claim;
  if (!owned) return "now";
  const { place, destruction } = kind.resource;
  // What a spec that cannot be read says of its own parts is not known: then nothing goes but the resource itself.
  const query = context.desired?.query ?? "";
  const path = `${place.collection(owned.parents)}/${encodeURIComponent(owned.id)}${query}`;
  // A second deletion of an id that has been given away meanwhile would hit somebody else's resource.
  const once = shared?.source.isStillThere !== undefined;
  const generation = object.metadata.generation;
  // What was never finished is made anew without anybody's word.
  const used = action === "replace" && context.view.replacement && generation !== undefined && destruction.holdsData;
  const changes = used ? { lossAllowed: generation } : {};
  return perform(deps, context, { action, method: "DELETE", path, once }, { changes });
}

/** What else there is to a write: what to do once it was taken, and what becomes of an answer that has a key. */
interface Handling extends Omit<Prepared, "body"> {
  taken?: () => void;
  key?: { nonce: string; keep(written: Context, reply: Reply): Promise<Requeue> };
}

/**
 * Makes a new key and puts it into the Secret. Whatever is lost once it was sent, the key in the Secret may be dead, and one more
 * is made.
 */
export async function renewKey(deps: Deps, context: Context): Promise<Requeue> {
  const { kind, view, shared, memory } = context;
  const keys = kind.resource.secret?.key;
  const { id, parents = {} } = view.claim ?? {};
  const item = id === undefined ? undefined : shared?.collection.read(id).item;
  if (!keys || "life" in keys || id === undefined || !item) return "now";
  const obstacle = await obstacleToKey(deps, context, item.raw);
  if (obstacle) return obstructed(deps, context, obstacle);
  const operation = { ...keys.renewal(id, parents), once: true };
  const nonce = deps.nonce();
  const keep = (written: Context, { body }: Reply) => {
    const key = keys.renewed(body);
    if (key === undefined) throw new Error(`the platform's answer to ${operation.action} has no key`);
    memory.renewed = { nonce, key, answer: item.raw };
    return deliver(deps, written);
  };
  return perform(deps, context, operation, { key: { nonce, keep } });
}

/** Sends a write and notes down what the platform now works on. One that must not happen twice is on record before it leaves. */
async function perform(
  deps: Deps,
  context: Context,
  operation: Operation,
  { taken, changes, hide, key }: Handling,
): Promise<Requeue> {
  const { shared, identity } = context;
  const { once = false } = operation;
  if (shared?.source.isStillThere && !(await shared.source.isStillThere(identity, readLimit()))) {
    shared.collection.refresh([identity]);
    return { inMs: LOOK_MS };
  }
  return journaled<Context, Reply, Requeue>(deps, {
    announce: async (at) => (once ? announce(deps, context, operation, at, key?.nonce) : context),
    send: (written, deadlineMs) => send(deps, written, operation, once ? deadlineMs : undefined),
    async keep(written, reply) {
      // Whatever becomes of the writes below: somebody may have edited the object meanwhile.
      taken?.();
      if (key) return key.keep(written, reply);
      await keepNewKey(deps, written, reply);
      await follow(deps, written, operation, reply.request, changes);
      return watched(deps, context, reply.request);
    },
    retract: async (written) => once && retract(deps, written),
    failed(written, error) {
      // One 404 proves nothing, but that what is known is old.
      if (error instanceof NotFound) shared?.collection.refresh([identity]);
      return recordPlatformError(deps, refreshed(deps, written), error, {}, hide);
    },
  });
}

/** Until a look that was asked for is there. */
const LOOK_MS = 2000;

/** A PUT to what has gone makes it anew on some products, with a key that is in no other answer. */
async function keepNewKey(deps: Deps, context: Context, { body }: Reply): Promise<void> {
  const key = context.kind.resource.secret?.key?.created(body);
  const id = context.view.claim?.id;
  if (key !== undefined && id !== undefined)
    await keepKey(deps, context, id, deps.nonce(), { key, answer: body }, false);
}

/** A write in status, before it is sent: with it, the next leader finds it again, and tells it from those before. */
async function announce(
  deps: Deps,
  context: Context,
  operation: Operation,
  at: number,
  nonce: string | undefined,
): Promise<Context> {
  const { action, marks, method, path } = operation;
  const now = platformTime(deps.clock, context.account?.connection);
  // Equal ones of minutes ago are in the log, too. Clocks do not tell them apart for certain, ids do.
  const [before] = await logged(context, { method, url: pathOf(path), createdAfter: now - 2 * SKEW_MS });
  const request = {
    action,
    status: "SENDING" as const,
    since: new Date(now).toISOString(),
    by: deps.self,
    ...markOf(operation),
    ...(nonce !== undefined && { nonce }),
    ...(before && { after: before.id }),
    ...notesOf(context, marks),
  };
  context.memory.begun = { what: begunBy(request), at };
  const { reason, message } = inProgress(context.kind, action);
  const changes = { request, ...ownership(context), ...comparison(context) };
  return withWritten(context, await record(deps, context, { mode: "reconciling", reason, message }, changes));
}

/** The write or the successor that is on record was not made, and never will be. */
export async function retract(deps: Deps, context: Context): Promise<Requeue> {
  const begun = context.view.intent && !context.view.intent.succeeds ? "create" : "update";
  const { reason, message } = inProgress(context.kind, context.status.request?.action ?? begun);
  const nonce = context.view.intent?.nonce ?? context.status.nonce;
  await record(deps, context, { mode: "reconciling", reason, message }, { request: undefined, nonce });
  context.shared?.collection.refresh([context.identity]);
  return "now";
}

const pathOf = (path: string): string => path.replace(/\?.*$/, "");

/** What the platform's own log has of such writes, the latest first. */
async function logged({ kind, account }: Context, filter: RequestFilter): Promise<LoggedRequest[]> {
  if (!account) throw new Error("the platform's log cannot be read without an account");
  const { product } = kind.resource.place;
  const api = addressOf(account, product);
  const found = (await products[product].requests?.(account.connection, api, filter, { priority: "people" })) ?? [];
  return found.toSorted((a, b) => b.createdAt - a.createdAt);
}

/** Asks the platform's own log what became of a write that was announced and never answered. */
export async function recall(deps: Deps, context: Context): Promise<Requeue> {
  const { call = "", hash, marks, after, since = "", action = "update" } = context.status.request ?? {};
  const [method = "", url = ""] = call.split(" ");
  const lookedAt = deps.clock.monotonic();
  // Both by the platform's clock. Whoever wrote it down may have known that less well.
  const now = platformTime(deps.clock, context.account?.connection);
  const createdAfter = Math.min(Date.parse(since) || 0, now) - 2 * SKEW_MS;
  const all = await logged(context, { method, url: pathOf(url), createdAfter });
  const known = all.findIndex(({ id }) => id === after);
  const later = known < 0 ? all : all.slice(0, known);
  const taken = later.find(({ body }) => (hashText(body) ?? hashBody(null)) === hash);
  if (taken?.statusUrl === undefined) context.memory.recalledAt = lookedAt;
  else await follow(deps, context, { action, ...(marks && { marks }) }, { id: taken.id, url: taken.statusUrl });
  return "now";
}

function send(
  deps: Deps,
  { kind, account, key: object }: Context,
  { method, path, body }: Operation,
  deadlineMs: number | undefined,
): Promise<Reply> {
  if (!account) throw new Error("a call to the platform needs an account");
  const { product } = kind.resource.place;
  const url = urlOf(account, product, path);
  return account.connection.send({
    method,
    url,
    object,
    product,
    priority: "people",
    guard: deps.guard,
    ...(body !== undefined && { body }),
    ...(deadlineMs !== undefined && { deadlineMs }),
  });
}

/** Notes down what the platform is now working on. */
async function follow(
  deps: Deps,
  context: Context,
  { action, marks }: Pick<Operation, "action" | "marks">,
  sent: Reply["request"],
  changes: Partial<ResourceStatus> = {},
): Promise<void> {
  // It was announced: what it is known by stays.
  const { call, hash, since } = context.status.request?.status === "SENDING" ? context.status.request : {};
  const request = {
    ...sent,
    action,
    status: "BUSY" as const,
    since: since ?? new Date(deps.clock.now()).toISOString(),
    ...(call !== undefined && { call, hash }),
    ...notesOf(context, marks),
  };
  const { reason, message } = inProgress(context.kind, action);
  const shown = { request, state: "BUSY", ...ownership(context), ...comparison(context), ...changes };
  await record(deps, context, { mode: "reconciling", reason, message }, shown);
}
