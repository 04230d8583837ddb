import { z } from "zod";
import { hashBody } from "../../hash.ts";
import { isSuccessive } from "../../kinds/kind.ts";
import { isConflict, isNotFound } from "../../kube/client/errors.ts";
import type { KubeObject } from "../../kube/resource.ts";
import { PlatformError, Retry } from "../../platform/answers/errors.ts";
import { platformTime, skewOf } from "../../platform/calls/platform-time.ts";
import { resourceId } from "../../platform/collections/reading.ts";
import { type ProductAccess, products } from "../../platform/products/products.ts";
import { type AccountHandle, addressOf, urlOf } from "../accounts/accounts.ts";
import { underWay } from "../decide/standing.ts";
import { type Deps, deadlineFrom, leads, overlapOf } from "../look/deps.ts";
import { fixedFields, sources } from "../look/fixed.ts";
import { inputsOf } from "../look/look.ts";
import { lookalike } from "../look/lookalike.ts";
import { notPublic } from "../look/ownership.ts";
import { resolveReferences } from "../look/references.ts";
import type { Scene } from "../look/view.ts";
import { birthOf } from "../objects/identity.ts";
import type { Intent } from "../objects/intent.ts";
import type { Memory, RequestAddress } from "../objects/memory.ts";
import { INTENT } from "../objects/names.ts";
import { openIntent } from "../objects/object.ts";
import { lifeOf, succeeded, tooBrief } from "../objects/succession.ts";
import { located } from "../record/record.ts";
import { fetchObject, writeMetadata, writeStatus } from "../record/write.ts";
import type { Obstacle } from "../schema/reasons.ts";
import { conditions, readFacts, readStatus } from "../schema/status.ts";
import type { ResourceStatus } from "../schema/status-schema.ts";
import { countedAnnotation } from "../schema/trust.ts";
import { keepKey, Overtaken, obstacleToKey, publicationOf } from "../secrets/keys.ts";
import { abandon, undo } from "./abandon.ts";
import { complete, redact } from "./lookups.ts";
import { equalsOf, neighboursOf } from "./neighbours.ts";

/** How an attempt to create ended, as far as this process knows. */
export type Creation =
  | { outcome: "claimed"; request: RequestAddress | undefined }
  /** Something was missing before anything was sent. */
  | { outcome: "obstructed"; obstacle: Obstacle }
  /** A definite no, or certainly not executed. */
  | { outcome: "refused"; error: PlatformError; intent: Intent; hide: (text: string) => string }
  /** No answer: only a search can tell. */
  | { outcome: "unknown"; error: PlatformError };

/** What was made and not yet claimed. */
type Unclaimed = Extract<NonNullable<Memory["creation"]>, { phase: "made" }>;

const created = z.looseObject({ id: resourceId });

/**
 * Creates the resource of an object exactly once: intend, create, claim.
 *
 * The intent is on record before the POST leaves, and the id is on record, on condition that the intent still stands,
 * before anything else happens. Whatever is lost in between is found by a search for the result of the open intent.
 */
export async function create(deps: Deps, scene: Scene): Promise<Creation> {
  const { kind, account, desired } = scene;
  if (!account || !desired) throw new Error("nothing can be created without an account and spec");
  // Not the parents of an earlier intent: spec may have changed since, and an annotation is anybody's to write.
  const resolved = resolveReferences(deps.objects, scene.object, desired);
  if ("obstacle" in resolved) return { outcome: "obstructed", obstacle: resolved.obstacle };
  const { parents } = resolved.value;
  const ready = await complete(deps, scene.object, { account, desired }, inputsOf(scene.object, resolved.value));
  if ("obstacle" in ready) return { outcome: "obstructed", obstacle: ready.obstacle };
  const inputs = ready.value;
  const body: unknown = JSON.parse(JSON.stringify(desired.body(inputs)));
  // A key that exists is renewed whatever the clocks say: what uses it goes on.
  const brief = scene.view.claim ? undefined : tooBrief("lifetime", lifeOf(kind, body), skewOf(account.connection));
  const obstacle = brief ?? (await obstacleToKey(deps, scene));
  if (obstacle) return { outcome: "obstructed", obstacle };
  const alike = lookalike(deps, scene, account, parents, body);
  if (alike) return { outcome: "obstructed", obstacle: alike };
  const foreign = await notPublic(deps, { object: scene.object, desired, account }, body);
  if (foreign) return { outcome: "obstructed", obstacle: foreign };
  // A successor may come before what spec names now was looked up.
  const looked = scene.view.unchecked ? { ...desired, check: undefined } : desired;
  const fixed = { ...fixedFields(kind, scene.object), ...sources(kind, looked, inputs) };
  const { identity, place, creation } = kind.resource;
  const hash = hashBody(identity.echo ? identity.echo(body) : body);
  const endpoint = addressOf(account, place.product);
  const { userId } = located(account, kind);
  const where = { account: account.key, endpoint, ...(userId !== undefined && { userId }) };
  const begun = { hash, parents, ...where, fixed };
  const succeeds = scene.view.claim?.id;
  const there = isSuccessive(kind) ? await neighboursOf(deps, scene, account, parents) : undefined;
  if (there && "obstacle" in there) return { outcome: "obstructed", obstacle: there.obstacle };
  const seen = there && equalsOf(kind, there.value, hash);
  const intended = await intend(deps, scene, {
    ...begun,
    ...(seen && { seen }),
    ...(succeeds !== undefined && { succeeds }),
  });
  const url = urlOf(account, place.product, (creation.path ?? place.collection)(parents));
  const hide = (text: string) => redact(text, inputs);
  const made = make(deps, scene, account, { ...intended, url, body, hide });
  // Should the object go meanwhile, the Account is still needed to undo this.
  deps.owe(
    Promise.allSettled([made]).then(() => {}),
    account.key,
  );
  return made;
}

/** What goes out to the platform, and for whom. */
interface Order {
  object: KubeObject;
  begun: Pick<Unclaimed, "intent" | "begunAt" | "own">;
  url: string;
  body: unknown;
  /** Takes out of a text what nobody else may see of the body. */
  hide: (text: string) => string;
}

/** Sends the creation and writes down what came of it. Should the object be gone by then, it is undone. */
async function make(deps: Deps, scene: Scene, account: AccountHandle, order: Order): Promise<Creation> {
  const { memory, key } = scene;
  const { object, begun } = order;
  try {
    const answer = await post(deps, scene, account, order);
    if ("outcome" in answer) return answer;
    memory.creation = answer;
    await claim(deps, { ...scene, object }, answer);
    return { outcome: "claimed", request: answer.made.request };
  } finally {
    // Whatever else went wrong: it is no longer under way.
    if (memory.creation?.phase === "posting") memory.creation = { ...begun, phase: "sent" };
    const gone = deps.objects.find(key)?.object.metadata.uid !== object.metadata.uid;
    if (gone) undo(deps, scene, { memory, last: object });
  }
}

async function post(
  deps: Deps,
  { kind, key: object, memory }: Scene,
  account: AccountHandle,
  { begun, url, body, hide }: Order,
): Promise<Unclaimed | Creation> {
  const { product } = kind.resource.place;
  const { creation = POSTED } = products[product];
  try {
    const reply = await account.connection.send({
      ...creation.call(url, body),
      object,
      product,
      priority: "people",
      // Counted from the intent, as recovery does.
      deadlineMs: deadlineFrom(deps, begun.begunAt),
      guard: () => {
        deps.guard();
        // The token was exchanged meanwhile: what another user makes, nobody would find by this intent.
        if (account.connection.identity?.userId !== begun.intent.userId) {
          const detail = "the token of the Account now belongs to another user";
          throw new Retry({ call: `POST ${new URL(url).pathname}`, status: 0, detail }, "no");
        }
        memory.creation = { ...begun, phase: "posting" };
      },
    });
    const answer = creation.made(reply.body);
    const { data } = created.safeParse(answer);
    const detail = "the answer has no id of the platform's form";
    if (!data) throw new Retry({ call: `POST ${new URL(url).pathname}`, status: reply.status, detail }, "unknown");
    const { id } = data;
    const key = kind.resource.secret?.key?.created(answer);
    const made = { id, born: birthOf(kind, answer), request: reply.request };
    memory.succession = succeeded(deps, memory.succession, lifeOf(kind, body));
    return { ...begun, phase: "made", made, ...(key !== undefined && { issued: { key, answer } }) };
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    const sent = error.executed === "unknown";
    memory.creation = { ...begun, phase: sent ? "sent" : "unsent" };
    return sent ? { outcome: "unknown", error } : { outcome: "refused", error, intent: begun.intent, hide };
  }
}

const POSTED: NonNullable<ProductAccess["creation"]> = {
  call: (url, body) => ({ method: "POST", url, body }),
  made: (answer) => answer,
};

/**
 * Puts the intent on record. Each POST has one of its own: the time in it is what recovery counts from, so that an
 * intent whose POST was refused or never sent is replaced, not used again.
 */
async function intend(
  deps: Deps,
  { kind, object, memory, account }: Scene,
  facts: Omit<Intent, "nonce" | "at" | "by">,
): Promise<Pick<Order, "object" | "begun">> {
  deps.guard();
  const at = new Date(platformTime(deps.clock, account?.connection)).toISOString();
  const intent: Intent = { nonce: deps.nonce(), at, by: deps.self, ...facts };
  // Nothing is sent under this nonce before the guard of the POST says so, whatever becomes of this write.
  const begun = { intent, begunAt: deps.clock.monotonic(), own: true };
  memory.creation = { ...begun, phase: "unsent" };
  memory.begun = { what: intent.nonce, at: begun.begunAt };
  return { object: await writeMetadata(deps, kind, object, { intent }), begun };
}

/**
 * Writes the id that answers an open intent. When the intent no longer stands, another leader has gone on without this
 * resource. What this process made itself is then deleted, for nobody else knows of it; what it only found is left.
 */
export async function claim(deps: Deps, scene: Scene, found: Unclaimed, marked = false): Promise<void> {
  const { kind, memory } = scene;
  const { intent, begunAt, made, issued, searched, own = false } = found;
  // The key first: it is shown once, and the Secret carries the id, so that neither can be lost alone. Who no longer
  // leads leaves the Secret to its successor, and still has to see to what it made.
  if (issued && leads(deps)) {
    await keepKey(deps, scene, made.id, intent.nonce, issued).catch((error: unknown) => {
      // What is claimed below, or not, decides.
      if (!(error instanceof Overtaken)) throw error;
    });
  }
  const isKept = answers(deps, scene, intent);
  const waiting = underWay(kind, "create");
  const contract = scene.account?.connection.contractNumber;
  for (let object: KubeObject | undefined = scene.object; ; ) {
    const before = readStatus(object);
    const { left, leftBehind, lossAllowed } = before;
    const base = {
      ...readFacts(object),
      observedGeneration: object.metadata.generation,
      conditions: conditions(object, deps.clock.now(), { mode: "reconciling", ...waiting }),
    };
    const succeeds = intent.succeeds !== undefined;
    const previous = succeeds ? former(deps, scene, isKept ? before : made) : before.previous;
    // Nobody has its key: what is in the Secret goes on working.
    const unused = { ...before, ...base, nonce: intent.nonce, previous };
    const status =
      succeeds && !isKept
        ? unused
        : {
            ...base,
            id: made.id,
            born: made.born,
            state: "BUSY",
            account: intent.account,
            endpoint: intent.endpoint,
            userId: intent.userId,
            parents: intent.parents,
            ...(contract !== undefined && { contract }),
            nonce: intent.nonce,
            fixed: intent.fixed,
            left,
            leftBehind,
            lossAllowed,
            previous,
            request: {
              ...made.request,
              action: "create",
              status: "BUSY",
              since: new Date(deps.clock.now()).toISOString(),
            },
          };
    // So late another shard may take it for what an equal has made: it has to be marked first, by a later pass.
    if (deps.shards.divided() && !marked && deadlineFrom(deps, begunAt) <= 0) return;
    try {
      deps.guard();
      const claimed = await writeStatus(deps, kind, object, status);
      memory.creation = { intent, begunAt, own, made, phase: "claimed" };
      const request = made.request ? `, request ${made.request.id}` : "";
      const older = !succeeds || !previous ? "" : isKept ? `; ${previous.id} works until ${previous.until}` : LOST;
      deps.events.record(claimed, "Normal", "Created", `Created ${kind.kind} ${made.id}${request}${older}`);
      return;
    } catch (error) {
      // Who leads tries again in a later pass.
      if (!isConflict(error) && !isNotFound(error) && leads(deps)) throw error;
      object = await fetchObject(deps, kind, object);
    }
    if (object && stands(object, intent)) {
      if (leads(deps)) continue;
      // Thawed after a long while, for example. Its successor finds this by the intent, and may have given it to an equal.
      memory.creation = undefined;
      return;
    }
    // Another leader goes on; what was only found is left to it, and so is what it has claimed.
    if (searched || (object && readStatus(object).id === made.id)) {
      memory.creation = undefined;
      return;
    }
    if (!object) return undo(deps, scene, { memory, last: scene.object });
    memory.creation = undefined;
    deps.owe(abandon(deps, scene, found, made, REPLACED), intent.account);
    return;
  }
}

const LOST = "; its value was lost, and it is deleted";

/** What is deleted later: when workloads have its successor, or at once when none has ever got it. */
function former(
  deps: Deps,
  { account }: Scene,
  { id, key }: Pick<ResourceStatus, "id" | "key">,
): ResourceStatus["previous"] {
  const now = platformTime(deps.clock, account?.connection);
  return id === undefined ? undefined : { id, until: new Date(now + (key ? overlapOf(deps) : 0)).toISOString() };
}

/** Whether the key that answers an intent is in the Secret. */
function answers({ published }: Deps, scene: Scene, { nonce }: Intent): boolean {
  const publication = publicationOf(scene);
  return publication !== undefined && published.find(scene.object, publication.name).note?.nonce === nonce;
}

/** Whether nobody has gone on without the result of this intent. One whose annotation was taken away still waits for it. */
export function stands(object: KubeObject, { nonce, succeeds }: Intent): boolean {
  const { id, nonce: answered } = readStatus(object);
  const erased = countedAnnotation(object, INTENT) === undefined && id === succeeds && answered !== nonce;
  return erased || openIntent(object)?.nonce === nonce;
}

const REPLACED = "the intent of this object was replaced meanwhile";
