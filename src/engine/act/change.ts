import type { Operation } from "../../kinds/kind.ts";
import { NotFound, PlatformError } from "../../platform/errors.ts";
import type { LoggedRequest, RequestFilter } from "../../platform/requests.ts";
import type { Reply } from "../../platform/transport.ts";
import { products } from "../accounts/products.ts";
import { underWay } from "../decide/decide.ts";
import { type Again, type Deps, deadlineFrom } from "../look/deps.ts";
import type { Scene } from "../look/view.ts";
import { isClaimed } from "../objects/birth.ts";
import { hashBody, hashText, markOf, SKEW_MS } from "../objects/intent.ts";
import { BUSY_MS, comparison, ownership, record, refreshed, refuse } from "../record/record.ts";
import { keepKey } from "../secrets/keys.ts";

/** Sends one write. One that must not be sent twice is on record before it leaves. */
export async function update(deps: Deps, scene: Scene, operation: Operation): Promise<Again> {
  if (!(await isStillThere(deps, scene))) return { inMs: BUSY_MS };
  const { action, method, path, body, note } = operation;
  const fields = comparison(scene).drift?.map(({ field }) => field);
  const { announced, since } = operation.once ? await announce(deps, scene, operation) : unannounced(deps, scene);
  try {
    const reply = await send(deps, announced, { method, path, body, ...(operation.once && { announcedAt: since }) });
    await keepNewKey(deps, announced, reply);
    await follow(deps, announced, operation, reply.request, since);
    const about = fields?.length ? `: ${fields.join(", ")}` : "";
    const hint = note === undefined ? "" : `; ${note}`;
    deps.events.record(scene.object, "Normal", "Updated", `asked the platform to ${action}${about}${hint}`);
    return "now";
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    // What was announced and may have been taken stays on record; what was not, does not.
    if (operation.once && error.executed !== "unknown") await retract(deps, announced);
    return refuse(deps, refreshed(deps, announced), error);
  }
}

/** A PUT to what has gone makes it anew on some products, with a key that is in no other answer. */
async function keepNewKey(deps: Deps, scene: Scene, { body }: Reply): Promise<void> {
  const key = scene.kind.resource.secret?.key?.created(body);
  const id = scene.view.claim?.id;
  if (key !== undefined && id !== undefined) await keepKey(deps, scene, id, deps.nonce(), { key, answer: body });
}

/** The object as it stands when a write is sent, and since when the write counts as sent. */
interface Announced {
  announced: Scene;
  since: number;
}

/** A write in status, before it is sent: with it, the next leader finds it again, and tells it from those before. */
async function announce(deps: Deps, scene: Scene, operation: Operation): Promise<Announced> {
  const { action, marks, method, path } = operation;
  // Equal ones of minutes ago are in the log, too. Clocks do not tell them apart for certain, ids do.
  const createdAfter = deps.clock.now() - 2 * SKEW_MS;
  const [before] = await logged(scene, { method, url: path, createdAfter });
  const since = deps.clock.now();
  const request = {
    action,
    status: "SENDING" as const,
    since: new Date(since).toISOString(),
    ...markOf(operation),
    ...(before && { after: before.id }),
    ...(marks && { marks }),
  };
  const { reason, message } = underWay(scene.kind.resource.names, action);
  await record(
    deps,
    scene,
    { mode: "reconciling", reason, message },
    { request, ...ownership(scene), ...comparison(scene) },
  );
  return { announced: refreshed(deps, scene), since };
}

const unannounced = (deps: Deps, scene: Scene): Announced => ({ announced: scene, since: deps.clock.now() });

async function retract(deps: Deps, scene: Scene): Promise<void> {
  const { reason, message } = underWay(scene.kind.resource.names, scene.status.request?.action ?? "update");
  await record(deps, scene, { mode: "reconciling", reason, message }, { request: undefined });
}

/** What the platform's own log has of such writes, the latest first. */
async function logged({ kind, account }: Scene, filter: RequestFilter): Promise<LoggedRequest[]> {
  if (!account) throw new Error("the platform's log cannot be read without an account");
  const { requests, endpoint } = products[kind.resource.place.product];
  const url = account.endpoint(endpoint);
  const found = (await requests?.(account.connection, url, filter, { priority: "people" })) ?? [];
  return found.toSorted((a, b) => b.createdAt - a.createdAt);
}

/** Finds out what became of a write that was announced and never answered: the platform's own log knows. */
export async function recall(deps: Deps, scene: Scene): Promise<Again> {
  const { status, view } = scene;
  const { call = "", hash, marks, after, action = "update" } = status.request ?? {};
  const since = view.request?.since ?? 0;
  const [method = "", url = ""] = call.split(" ");
  const lookedAt = deps.clock.now();
  const all = await logged(scene, { method, url, createdAfter: since - SKEW_MS });
  const known = all.findIndex(({ id }) => id === after);
  const later = known < 0 ? all : all.slice(0, known);
  const taken = later.find(({ body }) => (hashText(body) ?? hashBody(null)) === hash);
  if (taken?.statusUrl !== undefined) {
    const operation = { action, ...(marks && { marks }) };
    await follow(deps, scene, operation, { id: taken.id, url: taken.statusUrl }, since);
    return "now";
  }
  if (lookedAt < since + view.unsettledMs) return { inMs: BUSY_MS };
  await retract(deps, scene);
  scene.shared?.collection.refresh();
  return "now";
}

export async function remove(deps: Deps, scene: Scene, action: "delete" | "replace"): Promise<Again> {
  const { kind, view } = scene;
  const owned = view.claim;
  if (!owned) return "now";
  if (!(await isStillThere(deps, scene))) return { inMs: BUSY_MS };
  const { identity, place, destruction } = kind.resource;
  // What a spec that cannot be read says of its own parts is not known: then nothing goes but the resource itself.
  const query = scene.desired ? (destruction.query ?? "") : "";
  const path = `${place.collection(owned.parents)}/${encodeURIComponent(owned.id)}${query}`;
  // A second deletion of an id that has been given away meanwhile would hit somebody else's resource.
  const { reusesIds } = identity;
  const deletion: Operation = { action, method: "DELETE", path };
  const { announced, since } = reusesIds ? await announce(deps, scene, deletion) : unannounced(deps, scene);
  try {
    const reply = await send(deps, announced, { method: "DELETE", path, ...(reusesIds && { announcedAt: since }) });
    await follow(deps, announced, { action }, reply.request, since);
    return "now";
  } catch (error) {
    if (error instanceof NotFound && reusesIds) {
      // It was seen before, so it is not just invisible: it is gone, and what comes under its id is another one.
      await follow(deps, announced, { action }, undefined, since);
      return "now";
    }
    if (reusesIds && error instanceof PlatformError && error.executed !== "unknown") await retract(deps, announced);
    if (error instanceof NotFound) {
      scene.shared?.collection.refresh();
      return { inMs: BUSY_MS };
    }
    if (error instanceof PlatformError) return refuse(deps, refreshed(deps, announced), error);
    throw error;
  }
}

/** Whether the resource has not left its id to another one since it was last seen. Asked only where ids are given away again. */
async function isStillThere(deps: Deps, { kind, view, shared }: Scene): Promise<boolean> {
  const { claim } = view;
  if (!kind.resource.identity.reusesIds || claim?.born === undefined || !shared) return true;
  const item = await shared.source.get?.(claim.id, AbortSignal.timeout(deps.settings.createDeadlineMs));
  if (!item || isClaimed(claim, item.raw)) return true;
  shared.collection.refresh();
  return false;
}

/** One that was announced has its deadline counted from there: what is asked later whether it was taken rests on that. */
function send(
  deps: Deps,
  { kind, account }: Scene,
  { method, path, body, announcedAt }: Pick<Operation, "method" | "path" | "body"> & { announcedAt?: number },
): Promise<Reply> {
  if (!account) throw new Error("a call to the platform needs an account");
  const access = products[kind.resource.place.product];
  const url = access.url(account.endpoint(access.endpoint), path);
  return account.connection.send({
    method,
    url,
    priority: "people",
    guard: deps.guard,
    ...(body !== undefined && { body }),
    ...(announcedAt !== undefined && { deadlineMs: deadlineFrom(deps, announcedAt) }),
  });
}

/** Notes down what the platform is now working on. */
async function follow(
  deps: Deps,
  scene: Scene,
  { action, marks }: Pick<Operation, "action" | "marks">,
  sent: Reply["request"],
  since: number,
): Promise<void> {
  const at = new Date(since).toISOString();
  // It was announced: what it is known by stays.
  const { call, hash } = scene.status.request?.status === "SENDING" ? scene.status.request : {};
  const request = {
    ...sent,
    action,
    status: "BUSY" as const,
    since: at,
    ...(call !== undefined && { call, hash }),
    ...(marks && { marks }),
  };
  const { reason, message } = underWay(scene.kind.resource.names, action);
  const changes = {
    request,
    state: "BUSY",
    ...ownership(scene),
    ...comparison(scene),
  };
  await record(deps, scene, { mode: "reconciling", reason, message }, changes);
}

/** Looks inside a resource before it is deleted with all that it holds. */
export async function inspect(deps: Deps, scene: Scene): Promise<Again> {
  const { kind, account, view, memory } = scene;
  const { place, destruction } = kind.resource;
  const { contents } = destruction;
  if (!contents || !account || !view.claim) return "now";
  const asOf = deps.clock.now();
  const path = `${place.collection(view.claim.parents)}/${encodeURIComponent(view.claim.id)}?depth=${contents.depth}`;
  const access = products[place.product];
  const url = access.url(account.endpoint(access.endpoint), path);
  const { body } = await account.connection.send({ method: "GET", url });
  memory.contents = { asOf, found: contents.list(body) };
  return "now";
}
