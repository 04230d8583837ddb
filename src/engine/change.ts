import type { Operation } from "../kinds/kind.ts";
import { NotFound, PlatformError } from "../platform/errors.ts";
import type { Reply } from "../platform/transport.ts";
import { underWay } from "./decide.ts";
import type { Again, Deps } from "./deps.ts";
import { products } from "./products.ts";
import { BUSY_MS, comparison, ownership, record, refuse, withPlatform } from "./record.ts";
import type { Scene } from "./view.ts";

export async function update(deps: Deps, scene: Scene, operation: Operation): Promise<Again> {
  const { action, method, path, body } = operation;
  const fields = comparison(scene).drift?.map(({ field }) => field);
  return withPlatform(deps, scene, async () => {
    const since = deps.clock.now();
    const reply = await send(deps, scene, method, path, body);
    await follow(deps, scene, action, reply, since);
    deps.events.record(scene.object, "Normal", "Updated", `asked the platform to ${action}: ${fields?.join(", ")}`);
    return "now";
  });
}

export async function remove(deps: Deps, scene: Scene, action: "delete" | "replace"): Promise<Again> {
  const { kind, view } = scene;
  const owned = view.claim;
  if (!owned) return "now";
  const { collection, deleteQuery = "" } = kind.resource;
  const path = `${collection(owned.parents)}/${encodeURIComponent(owned.id)}${deleteQuery}`;
  try {
    const since = deps.clock.now();
    const reply = await send(deps, scene, "DELETE", path);
    await follow(deps, scene, action, reply, since);
    return "now";
  } catch (error) {
    if (error instanceof NotFound) {
      scene.shared?.collection.refresh();
      return { inMs: BUSY_MS };
    }
    if (error instanceof PlatformError) return refuse(deps, scene, error);
    throw error;
  }
}

function send(
  deps: Deps,
  { kind, account }: Scene,
  method: "DELETE" | Operation["method"],
  path: string,
  body?: unknown,
): Promise<Reply> {
  if (!account) throw new Error("a call to the platform needs an account");
  const access = products[kind.resource.product];
  const url = access.url(account.endpoint(access.endpoint), path);
  return account.connection.send({
    method,
    url,
    priority: "people",
    guard: deps.guard,
    ...(body !== undefined && { body }),
  });
}

/** Notes down what the platform is now working on. */
async function follow(deps: Deps, scene: Scene, action: string, reply: Reply, since: number): Promise<void> {
  const request = { ...reply.request, action, status: "BUSY" as const, since: new Date(since).toISOString() };
  const { reason, message } = underWay({ noun: scene.kind.resource.noun }, action);
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
  const { contents, collection, product } = kind.resource;
  if (!contents || !account || !view.claim) return "now";
  const asOf = deps.clock.now();
  const path = `${collection(view.claim.parents)}/${encodeURIComponent(view.claim.id)}?depth=${contents.depth}`;
  const access = products[product];
  const url = access.url(account.endpoint(access.endpoint), path);
  const { body } = await account.connection.send({ method: "GET", url });
  memory.contents = { asOf, found: contents.list(body) };
  return "now";
}
