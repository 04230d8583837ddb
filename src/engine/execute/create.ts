import { z } from "zod";
import { isSuccessive } from "../../kinds/kind.ts";
import type { Requeue } from "../../kube/queue/work.ts";
import type { KubeObject } from "../../kube/resource.ts";
import { NotFound, type PlatformError, Retry } from "../../platform/answers/errors.ts";
import { platformTime, skewOf } from "../../platform/calls/platform-time.ts";
import { resourceId } from "../../platform/collections/reading.ts";
import { type ProductAccess, products } from "../../platform/products/products.ts";
import { hashBody } from "../../runtime/hash.ts";
import { type AccountHandle, urlOf } from "../accounts/accounts.ts";
import type { Deps } from "../observe/deps.ts";
import { fixedFields, sources } from "../observe/fixed-fields.ts";
import { lookalike } from "../observe/lookalike.ts";
import { inputsOf } from "../observe/observe.ts";
import { notPublic } from "../observe/ownership.ts";
import { type Resolved, resolveReferences } from "../observe/references.ts";
import { isElsewhere } from "../observe/unowned.ts";
import type { Context } from "../observe/view.ts";
import { obstacleToKey } from "../secrets/keys.ts";
import { birthOf } from "../state/identity.ts";
import type { Intent } from "../state/intent.ts";
import { keyOfTarget } from "../state/object.ts";
import { lifeOf, succeeded, tooBrief } from "../state/succession.ts";
import type { Obstacle } from "../status/reasons.ts";
import { located, recordFailure, recordPlatformError, refreshed } from "../write/record.ts";
import { writeMetadata } from "../write/write.ts";
import { retract } from "./change.ts";
import { choicesFor } from "./choices.ts";
import { claim, stands, type Unclaimed } from "./claim.ts";
import { undo } from "./delete-unclaimed.ts";
import { equalsOf, neighboursOf } from "./equal-creations.ts";
import { journaled } from "./journal.ts";
import { complete, redact } from "./lookups.ts";
import { watched } from "./watched.ts";

const created = z.looseObject({ id: resourceId });

/**
 * Creates the resource of an object exactly once, and writes down what came of it: intend, create, claim.
 *
 * The intent is on record before the POST leaves, and the id is on record, on condition that the intent still stands,
 * before anything else happens. Whatever is lost in between is found by a search for the result of the open intent.
 */
export async function create(deps: Deps, context: Context): Promise<Requeue> {
  const { kind, account, memory } = context;
  if (!account) throw new Error("nothing can be created without an account");
  // Spec names another Account since the last attempt, which has made nothing: that one is closed first.
  if (context.view.intent && isElsewhere(context.object, account.key)) return retract(deps, context);
  const prepared = await prepare(deps, context, account);
  if ("obstacle" in prepared) return recordFailure(deps, context, prepared.obstacle);
  const { body, parents, hide, facts } = prepared.value;
  const { place, creation } = kind.resource;
  const url = urlOf(account, place.product, (creation.path ?? place.collection)(parents));
  const made = journaled<Intended, Unclaimed, Requeue>(deps, {
    announce: (at) => intend(deps, context, at, facts),
    send: ({ begun }, deadlineMs) => post(deps, context, account, { begun, url, body, deadlineMs }),
    async keep({ object }, answer) {
      memory.creation = answer;
      await claim(deps, { ...context, object }, answer);
      return watched(deps, context, answer.made.request);
    },
    async retract({ begun }) {
      memory.creation = { ...begun, phase: "unsent" };
    },
    failed({ begun }, error) {
      if (error.executed === "unknown") memory.creation = { ...begun, phase: "sent" };
      return unanswered(deps, context, begun.intent, error, hide);
    },
  }).finally(() => {
    // Whatever went wrong: it is no longer under way.
    if (memory.creation?.phase === "posting") memory.creation = { ...memory.creation, phase: "sent" };
    const isGone = deps.objects.find(context.key)?.object.metadata.uid !== context.object.metadata.uid;
    if (isGone) undo(deps, context, { memory, last: context.object });
  });
  // Should the object go meanwhile, the Account is still needed to undo this.
  deps.runCleanup(
    Promise.allSettled([made]).then(() => {}),
    account.key,
  );
  return made;
}

/** A creation that can be sent. */
interface Prepared {
  body: unknown;
  parents: Intent["parents"];
  /** What is on record of it. */
  facts: Omit<Intent, "nonce" | "at" | "by">;
  /** Takes out of a text what nobody else may see of the body. */
  hide: (text: string) => string;
}

/** Puts together what is sent, and finds out what is missing for it, before anything is on record. */
async function prepare(deps: Deps, context: Context, account: AccountHandle): Promise<Resolved<Prepared>> {
  const { kind, object, desired, view } = context;
  if (!desired) throw new Error("nothing can be created without spec");
  // Not the parents of an earlier intent: spec may have changed since, and an annotation is anybody's to write.
  const resolved = resolveReferences(deps.objects, object, desired);
  if ("obstacle" in resolved) return resolved;
  const { parents } = resolved.value;
  const ready = await complete(deps, object, { account, desired }, inputsOf(object, resolved.value));
  if ("obstacle" in ready) return ready;
  const inputs = ready.value;
  const body: unknown = JSON.parse(JSON.stringify(desired.body(inputs)));
  // A key that exists is renewed whatever the clocks say: what uses it goes on.
  const brief = view.claim ? undefined : tooBrief("lifetime", lifeOf(kind, body), skewOf(account.connection));
  const obstacle =
    brief ??
    (await obstacleToKey(deps, context)) ??
    lookalike(deps, context, account, parents, body) ??
    (await notPublic(deps, { object, desired, account }, body));
  if (obstacle) return { obstacle };
  // A successor may come before what spec names now was looked up.
  const looked = view.unchecked ? { ...desired, check: undefined } : desired;
  const { echo } = kind.resource.identity;
  const hash = hashBody(echo ? echo(body) : body);
  const there = isSuccessive(kind) ? await neighboursOf(deps, context, account, parents) : undefined;
  if (there && "obstacle" in there) return there;
  const { contract: _, ...where } = located(account, kind);
  const facts = {
    hash,
    parents,
    account: account.key,
    ...where,
    fixed: { ...fixedFields(kind, object), ...sources(kind, looked, inputs) },
    ...(there && { seen: equalsOf(kind, there.value, hash) }),
    ...(view.claim && { succeeds: view.claim.id }),
  };
  return { value: { body, parents, facts, hide: (text) => redact(text, inputs) } };
}

/** What is on record of a creation, and the object with it. */
interface Intended {
  object: KubeObject;
  begun: Pick<Unclaimed, "intent" | "begunAt" | "own">;
}

async function post(
  deps: Deps,
  { kind, key: object, memory }: Context,
  account: AccountHandle,
  { begun, url, body, deadlineMs }: Pick<Intended, "begun"> & { url: string; body: unknown; deadlineMs: number },
): Promise<Unclaimed> {
  const { product } = kind.resource.place;
  const { creation = POSTED } = products[product];
  const { connection } = account;
  const reply = await connection.send({
    ...creation.call(url, body),
    object,
    product,
    priority: "people",
    deadlineMs,
    guard: () => {
      deps.guard();
      // The token was exchanged meanwhile: what another user makes, nobody would find by this intent.
      if (connection.identity?.userId !== begun.intent.userId) {
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
  const key = kind.resource.secret?.key?.created(answer);
  const made = { id: data.id, born: birthOf(kind, answer), request: reply.request };
  memory.succession = succeeded(deps, memory.succession, lifeOf(kind, body));
  return { ...begun, phase: "made", made, ...(key !== undefined && { issued: { key, answer } }) };
}

/** Says why there is no answer, or a refusal: that one closes the intent. */
async function unanswered(
  deps: Deps,
  context: Context,
  intent: Intent,
  error: PlatformError,
  hide: Prepared["hide"],
): Promise<Requeue> {
  const after = refreshed(deps, context);
  if (error.executed === "unknown") return recordPlatformError(deps, after, error);
  // Another process has gone on without it, and has an intent of its own by now.
  if (!stands(after.object, intent)) return "now";
  const changes = { nonce: intent.nonce };
  const orphan = error instanceof NotFound ? orphaned(deps, context) : undefined;
  if (orphan) return recordFailure(deps, after, orphan, { changes });
  const choices = await choicesFor(deps, context, error);
  return recordPlatformError(deps, after, error, changes, (text) => `${hide(text)}${choices}`);
}

/** 404 to a creation: what it was to live under is not there. Whoever stands for that is looked at again. */
function orphaned(deps: Deps, { object, desired }: Context): Obstacle | undefined {
  const namespace = object.metadata.namespace ?? "";
  const places = desired?.references.filter(({ bond = "place" }) => bond === "place") ?? [];
  const named = places.map(({ kind: parent, field, target }) => {
    if ("id" in target) return { field: field.replace(/Ref$/, "Id"), what: `${parent} ${target.id}`.trim() };
    deps.collections.refresh(keyOfTarget(namespace, parent, target));
    return { field, what: `the resource of ${parent} ${target.name}` };
  });
  // The innermost is named first: which of them is missing, the platform does not say.
  const [nearest, ...around] = named.reverse();
  if (!nearest) return undefined;
  const where = around.length > 0 ? ` in ${around.map(({ what }) => what).join(" in ")}` : "";
  const message = `${nearest.field}: ${nearest.what} does not exist${where}, or this Account has no access: correct the field, or create it`;
  return { reason: "ParentNotFound", message };
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
  { kind, object, memory, account }: Context,
  begunAt: number,
  facts: Prepared["facts"],
): Promise<Intended> {
  deps.guard();
  const at = new Date(platformTime(deps.clock, account?.connection)).toISOString();
  const intent: Intent = { nonce: deps.nonce(), at, by: deps.self, ...facts };
  // Nothing is sent under this nonce before the guard of the POST says so, whatever becomes of this write.
  const begun = { intent, begunAt, own: true };
  memory.creation = { ...begun, phase: "unsent" };
  memory.begun = { what: intent.nonce, at: begunAt };
  return { object: await writeMetadata(deps, kind, object, { intent }), begun };
}
