import type { Operation } from "../../kinds/desired.ts";
import type { Requeue } from "../../kube/queue/work.ts";
import { NotFound } from "../../platform/answers/errors.ts";
import { secretsRedactor } from "../../platform/calls/credentials.ts";
import type { Reply } from "../../platform/calls/transport.ts";
import { urlOf } from "../accounts/accounts.ts";
import { deletionOf } from "../decide/waiting.ts";
import { backoffMs, type Deps, readLimit } from "../observe/deps.ts";
import { sources } from "../observe/spec/fixed-fields.ts";
import { notPublic } from "../observe/spec/ownership.ts";
import type { Resolved } from "../observe/spec/references.ts";
import type { Context } from "../observe/view.ts";
import { deliver, keepKey, obstacleToKey, obstructed } from "../secrets/keys.ts";
import { writeKeyOf } from "../state/intent.ts";
import { isAccepted } from "../state/memory.ts";
import type { ResourceStatus } from "../status/schema.ts";
import { recordFailure, recordPlatformError, refreshed } from "../write/record.ts";
import { READ_MS } from "./confirm.ts";
import { memberPath } from "./inside.ts";
import { journaled } from "./journal.ts";
import { complete } from "./lookups.ts";
import { announce, follow, recordProgress, retract, trackNow } from "./request-record.ts";

/** Sends one change of the resource. */
export async function update(deps: Deps, context: Context, operation: Operation): Promise<Requeue> {
  const { action, note } = operation;
  const ready = await prepare(deps, context, operation);
  if ("obstacle" in ready) return recordFailure(deps, context, ready.obstacle);
  const { body, ...handling } = ready.value;
  const foreign = await notPublic(deps, context, body);
  if (foreign) return recordFailure(deps, context, foreign);
  const { observation } = context.view.resource;
  const { comparison } = observation.seen === "present" ? observation : {};
  // A write before a deletion does not correct drift.
  const drift = comparison?.next === operation ? comparison.drift.map(({ field }) => field) : [];
  const fields = operation.fields ?? drift;
  const accepted = () => {
    noteAccepted(deps, context, operation);
    const about = fields.length > 0 ? `: ${fields.join(", ")}` : "";
    const hint = note === undefined ? "" : `; ${note}`;
    deps.events.record(context.object, "Normal", "Updated", `asked the platform to ${action}${about}${hint}`);
  };
  return perform(deps, context, { ...operation, body }, { accepted, ...handling });
}

/** Starts the backoff for the same write, which lasts until its effect is seen. */
function noteAccepted(deps: Deps, { memory, object, view }: Context, operation: Operation): void {
  const write = writeKeyOf(operation);
  const { accepted } = view.resource;
  const before = accepted && isAccepted(accepted, write) ? accepted.times : 0;
  const { generation = 1 } = object.metadata;
  const at = deps.clock.monotonic();
  memory.accepted = { write, generation, times: before + 1, at, retryAt: at + backoffMs(deps.settings, before) };
}

interface Handling {
  /** The changes of status once the write is accepted. */
  changes?: Partial<ResourceStatus>;
  /** Removes secret values from an error message. */
  hide?: (text: string) => string;
  accepted?: () => void;
  /** Keeps the key of the answer. */
  key?: { nonce: string; keep(written: Context, reply: Reply): Promise<Requeue> };
}

async function prepare(
  deps: Deps,
  { kind, object, status, desired, account, inputs }: Context,
  { body, resolve }: Operation,
): Promise<Resolved<Handling & { body: unknown }>> {
  if (!resolve || !desired || !account || !inputs) return { value: { body } };
  const ready = await complete(deps, object, { account, desired }, inputs);
  if ("obstacle" in ready) return ready;
  const kept = Object.entries(status.fixed ?? {}).filter(([field]) => field in kind.immutable);
  const fixed = { ...Object.fromEntries(kept), ...sources(kind, desired, ready.value) };
  const hide = secretsRedactor(Object.values(ready.value.secrets));
  return { value: { body: resolve(ready.value), changes: { fixed }, hide } };
}

/** Deletes the resource, for good or before its replacement. */
export async function remove(deps: Deps, context: Context, action: "delete" | "replace"): Promise<Requeue> {
  const { kind, view, object, shared } = context;
  const { claim } = view.resource;
  if (!claim) return "now";
  // If spec cannot be read, only the resource itself is deleted.
  const path = `${memberPath(kind, claim)}${context.desired?.query ?? ""}`;
  // A second deletion of a reused number would hit another resource.
  const once = shared?.source.isStillThere !== undefined;
  // The replacement of a failed creation needs no permission, so it uses none up.
  const isAllowed = action === "replace" && view.spec.replacement && kind.resource.destruction.holdsData;
  const changes = isAllowed ? { lossAllowed: object.metadata.generation ?? 1 } : {};
  const accepted = () => noteAccepted(deps, context, deletionOf(claim));
  return perform(deps, context, { action, method: "DELETE", path, once }, { changes, accepted });
}

/** Deletes the previous resource of a successive key: the new key is in use, or the object is being deleted. */
export async function revoke(deps: Deps, context: Context): Promise<Requeue> {
  const { kind, account, shared, status, view } = context;
  const { previous, parents = {} } = status;
  if (!account || !previous) return "now";
  const path = memberPath(kind, { id: previous.id, parents });
  try {
    await send(deps, context, { action: "delete", method: "DELETE", path });
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
    // One 404 proves nothing while the list still shows it.
    if (!shared || shared.collection.read(previous.id).item) {
      shared?.collection.refresh([context.identity]);
      return { inMs: READ_MS };
    }
  }
  const action = view.spec.deleting ? "delete" : "revoke the previous one";
  await recordProgress(deps, context, action, { previous: undefined });
  return "now";
}

/** Makes a new key and writes it to the Secret. If it is lost on the way, one more is made. */
export async function renewKey(deps: Deps, context: Context): Promise<Requeue> {
  const { kind, view, item, memory } = context;
  const keys = kind.resource.secret?.key;
  const { id, parents = {} } = view.resource.claim ?? {};
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

/** Sends a write and records its request. A write that must not happen twice is announced in status first. */
async function perform(deps: Deps, context: Context, operation: Operation, handling: Handling): Promise<Requeue> {
  const { accepted, changes, hide, key } = handling;
  const { shared, identity } = context;
  const { once = false } = operation;
  if (shared?.source.isStillThere && !(await shared.source.isStillThere(identity, readLimit()))) {
    shared.collection.refresh([identity]);
    return { inMs: READ_MS };
  }
  return journaled<Context, Reply, Requeue>(deps, {
    announce: async (at) => (once ? announce(deps, context, operation, at, key?.nonce) : context),
    send: (written, deadlineMs) => send(deps, written, operation, once ? deadlineMs : undefined),
    async keep(written, reply) {
      // Before the writes below, which fail if somebody has edited the object meanwhile.
      accepted?.();
      if (key) return key.keep(written, reply);
      await keepNewKey(deps, written, reply);
      await follow(deps, written, operation, reply.request, changes);
      return trackNow(deps, context, reply.request);
    },
    retract: async (written) => once && retract(deps, written),
    failed(written, error) {
      // One 404 proves nothing, except that the cache is old.
      if (error instanceof NotFound) shared?.collection.refresh([identity]);
      return recordPlatformError(deps, refreshed(deps, written), error, {}, hide);
    },
  });
}

/** On some products a PUT to a resource that is gone creates it again, with a key that no other answer has. */
async function keepNewKey(deps: Deps, context: Context, { body }: Reply): Promise<void> {
  const key = context.kind.resource.secret?.key?.created(body);
  const id = context.view.resource.claim?.id;
  if (key !== undefined && id !== undefined)
    await keepKey(deps, context, id, deps.nonce(), { key, answer: body }, false);
}

function send(deps: Deps, context: Context, operation: Operation, deadlineMs?: number): Promise<Reply> {
  const { kind, account, key: object } = context;
  const { method, path, body } = operation;
  if (!account) throw new Error("a call to the platform needs an account");
  const { product } = kind.resource.place;
  return account.connection.send({
    method,
    url: urlOf(account, product, path),
    object,
    product,
    priority: "people",
    guard: deps.guard,
    ...(kind.resource.secret?.key && { makesKey: true }),
    ...(body !== undefined && { body }),
    ...(deadlineMs !== undefined && { deadlineMs }),
  });
}
