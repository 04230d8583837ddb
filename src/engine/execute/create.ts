import { z } from "zod";
import { isSuccessive } from "../../kinds/kind.ts";
import { lifeOf } from "../../kinds/lives.ts";
import type { Requeue } from "../../kube/queue/work.ts";
import type { KubeObject } from "../../kube/resource.ts";
import { NotFound, Retry } from "../../platform/answers/errors.ts";
import { secretsRedactor } from "../../platform/calls/credentials.ts";
import { NOTABLE_SKEW_MS, platformTime, skewOf } from "../../platform/calls/platform-time.ts";
import { birthOf } from "../../platform/collections/numbered.ts";
import { creatorOf, type Item, resourceId } from "../../platform/collections/reading.ts";
import { POSTED, products } from "../../platform/products/products.ts";
import { hashBody } from "../../runtime/hash.ts";
import { type AccountHandle, accountTitle, addressOf, isShared, urlOf } from "../accounts/accounts.ts";
import { type Deps, readLimit } from "../observe/deps.ts";
import { isOurs, lookalike, nameOf, namesake } from "../observe/resource/lookalike.ts";
import { fixedFields, sources } from "../observe/spec/fixed-fields.ts";
import { notPublic } from "../observe/spec/ownership.ts";
import { type Resolved, resolveReferences } from "../observe/spec/references.ts";
import { inputsOf } from "../observe/spec/spec.ts";
import { isElsewhere, isMoved } from "../observe/subject.ts";
import type { Context } from "../observe/view.ts";
import { obstacleToKey } from "../secrets/keys.ts";
import { type Intent, notBefore } from "../state/intent.ts";
import type { Begun } from "../state/memory.ts";
import { keyOfTarget, namespaceOf, type ObjectKey } from "../state/object.ts";
import { nextSuccession, tooBrief } from "../state/succession.ts";
import type { Obstacle } from "../status/reasons.ts";
import { located, recordFailure, recordPlatformError, refreshed } from "../write/record.ts";
import { writeMetadata } from "../write/write.ts";
import { claim, stillAwaits, type Unclaimed } from "./claim.ts";
import { undo } from "./delete-unclaimed.ts";
import { journaled } from "./journal.ts";
import { choicesFor, complete } from "./lookups.ts";
import { retract, trackNow } from "./request-record.ts";

const created = z.looseObject({ id: resourceId });

/**
 * Creates the resource of an object exactly once: intend, create, claim.
 *
 * The intent is recorded before the POST is sent. Then the id is recorded, on condition that the intent is still there.
 * After a crash in between, a search finds the result of the open intent.
 */
export async function create(deps: Deps, context: Context): Promise<Requeue> {
  const { account, memory, object, desired } = context;
  if (!account) throw new Error("nothing can be created without an account");
  // Spec names another Account or parent since the last attempt, which has created nothing: its intent is closed first.
  const { parents } = context.view.resource.intent ?? {};
  if (parents && (isElsewhere(object, account.key) || isMoved(deps.objects, object, parents, desired)))
    return retract(deps, context);
  const prepared = await prepare(deps, context, account);
  if ("obstacle" in prepared) return recordFailure(deps, context, prepared.obstacle);
  const { hide, facts } = prepared.value;
  const made = journaled<Intended, Unclaimed, Requeue>(deps, {
    announce: (at) => intend(deps, context, facts, at),
    send: ({ begun }, deadlineMs) => post(deps, context, prepared.value, begun, deadlineMs),
    async keep({ object }, answer) {
      memory.creation = answer;
      await claim(deps, { ...context, object }, answer);
      return trackNow(deps, context, answer.made.request);
    },
    async retract({ begun }) {
      memory.creation = { ...begun, phase: "unsent" };
    },
    async failed({ begun }, error) {
      const after = refreshed(deps, context);
      if (error.executed === "unknown") {
        const foreign = error.status >= 300 && error.status < 500 ? error : undefined;
        memory.creation = { ...begun, phase: "sent", foreign };
        return recordPlatformError(deps, after, error, {}, hide);
      }
      // Another process has replaced the intent.
      if (!stillAwaits(after.object, begun.intent)) return "now";
      // A refusal closes the intent.
      const changes = { nonce: begun.intent.nonce, revision: begun.intent.revision };
      const orphan = error instanceof NotFound ? orphaned(deps, context) : undefined;
      if (orphan) return recordFailure(deps, after, orphan, changes);
      const choices = await choicesFor(deps, context, error);
      const way =
        choices || (await namesake(deps, context, { parents: facts.parents, body: prepared.value.body, error }));
      return recordPlatformError(deps, after, error, changes, (text) => `${hide(text)}${way}`);
    },
  }).finally(() => {
    if (memory.creation?.phase === "posting") memory.creation = { ...memory.creation, phase: "sent" };
    const isGone = deps.objects.find(context.key)?.object.metadata.uid !== context.object.metadata.uid;
    if (isGone) undo(deps, context);
  });
  // If the object is deleted meanwhile, the Account is still needed to undo the creation.
  const settled = Promise.allSettled([made]).then(() => {});
  deps.runCleanup(settled, account.key);
  return made;
}

interface Prepared {
  account: AccountHandle;
  url: string;
  body: unknown;
  /** The facts that the intent records. */
  facts: Omit<Intent, "nonce" | "at" | "by">;
  /** Removes secret values from an error message. */
  hide: (text: string) => string;
}

/** Makes the body, or finds out why it cannot be made, before anything is recorded. */
async function prepare(deps: Deps, context: Context, account: AccountHandle): Promise<Resolved<Prepared>> {
  const { kind, object, desired, view } = context;
  const { claim } = view.resource;
  if (!desired) throw new Error("nothing can be created without spec");
  // Not the parents of an earlier intent: spec may have changed since.
  const resolved = resolveReferences(deps.objects, object, desired);
  if ("obstacle" in resolved) return resolved;
  const { parents } = resolved.value;
  const ready = await complete(deps, object, { account, desired }, inputsOf(object, resolved.value));
  if ("obstacle" in ready) return ready;
  const inputs = ready.value;
  const body: unknown = JSON.parse(JSON.stringify(desired.body(inputs)));
  // An existing key is renewed whatever the clocks say.
  const brief = claim ? undefined : tooBrief("lifetime", lifeOf(kind, body), skewOf(account.connection));
  const obstacle =
    brief ??
    (await obstacleToKey(deps, context)) ??
    (await lookalike(deps, context, parents, body)) ??
    (await notPublic(deps, context, body));
  if (obstacle) return { obstacle };
  // A new key may be created before the catalogue entry in spec was looked up.
  const checked = view.spec.unchecked ? { ...desired, check: undefined } : desired;
  const { echo = (sent: unknown) => sent } = kind.resource.identity;
  const hash = hashBody(echo(body));
  const isEqual = ({ raw }: Item) => hashBody(echo(raw)) === hash;
  const there = isSuccessive(kind) ? await neighboursOf(deps, context, account, parents) : undefined;
  if (there && "obstacle" in there) return there;
  const { contract: _, ...where } = located(account, kind);
  const facts = {
    hash,
    parents,
    account: account.key,
    ...where,
    fixed: { ...fixedFields(kind, object), ...sources(kind, checked, inputs) },
    ...(there && { seen: there.value.filter(isEqual).map(({ id }) => id) }),
    ...(claim && { succeeds: claim.id }),
  };
  const { place, creation } = kind.resource;
  const url = urlOf(account, place.product, (creation.path ?? place.collection)(parents));
  return { value: { account, url, body, facts, hide: secretsRedactor(Object.values(inputs.secrets)) } };
}

/** The existing members, after room for one more was made. */
async function neighboursOf(
  deps: Deps,
  context: Context,
  account: AccountHandle,
  parents: Intent["parents"],
): Promise<Resolved<readonly Item[]>> {
  const { key, kind, view } = context;
  const { source } = deps.collections.join(key, { account, kind, parents });
  const list = () => source.list(readLimit(), "people");
  const { product } = kind.resource.place;
  const { capacity } = products[product];
  if (!capacity) return { value: await list() };
  // Where namespaces share the user of an Account, each has its share.
  const isSharer = (each: ObjectKey) =>
    each !== key &&
    namespaceOf(each) === namespaceOf(key) &&
    deps.objects.find(each)?.kind.resource?.place.product === product;
  const sharers = isShared(account.key) ? deps.objects.users(account.key).filter(isSharer).length : 0;
  const makeRoom = () => capacity.makeRoom(account.connection, addressOf(account, product), deps.guard);
  const applicant = { isNew: !view.resource.claim, sharers, title: accountTitle(account.key) };
  const room = await capacity.roomFor(applicant, list, makeRoom);
  return "full" in room ? { obstacle: { reason: "QuotaExceeded", message: room.full } } : { value: room.items };
}

/** The recorded creation, and the object with its intent. */
interface Intended {
  object: KubeObject;
  begun: Begun;
}

async function post(
  deps: Deps,
  context: Context,
  { account: { connection }, url, body }: Prepared,
  begun: Begun,
  deadlineMs: number,
): Promise<Unclaimed> {
  const { kind, key: object, memory } = context;
  const { product } = kind.resource.place;
  const { creation = POSTED } = products[product];
  const call = `POST ${new URL(url).pathname}`;
  const reply = await connection.send({
    ...(kind.resource.secret?.key && { makesKey: true }),
    ...creation.call(url, body),
    object,
    product,
    priority: "people",
    deadlineMs,
    guard: () => {
      deps.guard();
      // A search for this intent does not find what another user creates.
      if (connection.identity?.userId !== begun.intent.userId) {
        const detail = "the token of the Account now belongs to another user";
        throw new Retry({ call, status: 0, detail }, "no");
      }
      memory.creation = { ...begun, phase: "posting" };
    },
  });
  const answer = creation.made(reply.body);
  const { data } = created.safeParse(answer);
  const detail = data
    ? wrongResult(deps, context, begun.intent, body, { ...data })
    : "the answer has no id of the platform's form";
  if (!data || detail !== undefined)
    throw new Retry({ call, status: reply.status, ...(detail && { detail }) }, "unknown");
  const key = kind.resource.secret?.key?.created(answer);
  const born = birthOf(kind.resource.identity, answer);
  const made = { id: data.id, born, notBefore: notBefore(begun.intent), request: reply.request };
  memory.succession = nextSuccession(deps, memory.succession, lifeOf(kind, body));
  return { ...begun, phase: "made", made, ...(key !== undefined && { issued: { key, answer } }) };
}

/** Why the resource in an answer cannot be the result of this creation: it may be in use. Its result is searched for. */
function wrongResult(
  { objects }: Deps,
  { kind, key, account }: Context,
  intent: Intent,
  body: unknown,
  answer: { id: string },
): string | undefined {
  const { identity } = kind.resource;
  const place = { ...intent, id: answer.id, born: birthOf(kind.resource.identity, answer) };
  const what = `the answer names ${answer.id}, which`;
  // A number without a date may be that of a resource that is gone.
  const isKnown = place.born !== undefined || !identity.reusesIds;
  const isOld = intent.seen?.includes(answer.id) || (isKnown && objects.wasClaimed(kind.kind, place, key));
  if (isOld || answer.id === account?.connection.identity?.tokenId) return `${what} is in use already`;
  if (!isOurs(creatorOf(answer), intent.userId)) return `${what} another user created`;
  // Only the log of a product tells what a body has made whose name the platform has changed.
  if (!identity.echo && nameOf(body) !== (nameOf(answer) ?? nameOf(body))) return `${what} has another name`;
  // Until it is claimed, it is the result of no other creation.
  if (isKnown) objects.excludeFromSearches(kind.kind, place, key);
  return undefined;
}

/** 404 to a creation: a parent is missing. The collections of the parents are listed again. */
function orphaned(deps: Deps, { object, desired }: Context): Obstacle | undefined {
  const namespace = object.metadata.namespace ?? "";
  const places = desired?.references.filter(({ bond = "place" }) => bond === "place") ?? [];
  const named = places.map(({ kind: parent, field, target }) => {
    if ("id" in target) return { field: field.replace(/Ref$/, "Id"), what: `${parent} ${target.id}`.trim() };
    deps.collections.refresh(keyOfTarget(namespace, parent, target));
    return { field, what: `the resource of ${parent} ${target.name}` };
  });
  // The platform does not say which parent is missing: the innermost is named first.
  const [nearest, ...around] = named.reverse();
  if (!nearest) return undefined;
  const where = around.length > 0 ? ` in ${around.map(({ what }) => what).join(" in ")}` : "";
  const message = `${nearest.field}: ${nearest.what} does not exist${where}, or this Account has no access: correct the field, or create it`;
  return { reason: "ParentNotFound", message };
}

/** Records the intent. Each POST has its own, because recovery counts from the time in it. */
async function intend(deps: Deps, context: Context, facts: Prepared["facts"], begunAt: number): Promise<Intended> {
  const { kind, object, memory, account } = context;
  deps.guard();
  const at = new Date(platformTime(deps.clock, account?.connection)).toISOString();
  const isSkewed = Math.abs(skewOf(account?.connection)) > NOTABLE_SKEW_MS;
  const own = isSkewed && { ownAt: new Date(deps.clock.now()).toISOString() };
  const revision = Math.max(context.view.resource.intent?.revision ?? 0, context.status.revision ?? 0) + 1;
  const intent: Intent = { nonce: deps.nonce(), revision, at, ...own, by: deps.self, ...facts };
  // Nothing is sent with this nonce before the guard of the POST runs.
  const begun = { intent, begunAt, own: true };
  memory.creation = { ...begun, phase: "unsent" };
  memory.begun = { what: intent.nonce, at: begunAt };
  return { object: await writeMetadata(deps, kind, object, { intent }), begun };
}
