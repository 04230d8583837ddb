import { isDeepStrictEqual } from "node:util";
import type { Publication, SecretData } from "../../kinds/desired.ts";
import { isConflict, isNotFound, KubeError } from "../../kube/client/errors.ts";
import type { Requeue } from "../../kube/queue/work.ts";
import type { KubeObject } from "../../kube/resource.ts";
import { decoded } from "../../kube/write/owned-secret.ts";
import type { Deps } from "../observe/deps.ts";
import { contentOf, filled, RENEWAL_MS, versionLabel } from "../observe/secret-state.ts";
import type { Context } from "../observe/view.ts";
import { type Issued, nextAttempt } from "../state/memory.ts";
import { INTENT, PUBLISHED, ROTATE_AT } from "../state/names.ts";
import { openIntent } from "../state/object.ts";
import { fingerprintOf, fingerprintsOf } from "../state/publications/fingerprints.ts";
import { changedEntries, type Note } from "../state/published.ts";
import type { Obstacle } from "../status/reasons.ts";
import { readStatus } from "../status/status.ts";
import { countedAnnotation } from "../status/trust.ts";
import { record, recordFailure, refreshed } from "../write/record.ts";
import { fetchObject } from "../write/write.ts";
import { obstacleTo, type Published, type PublishOptions, publish, unlessRefused } from "./publish.ts";

/**
 * Why the Secret of an object could not be written, tried with everything that is to be in it but the key. Asked before a key
 * is made: one that has no place would be lost, and the one before would have ended for nothing.
 */
export async function obstacleToKey(deps: Deps, context: Context, item?: unknown): Promise<Obstacle | undefined> {
  const publication = publicationOf(context);
  const { account } = context;
  if (!publication || !account) return undefined;
  const content = item === undefined ? { data: {} } : filled(() => publication.data(item, "", account.endpoint));
  return "obstacle" in content ? content.obstacle : obstacleTo(deps, context, { name: publication.name, ...content });
}

export const publicationOf = ({ desired, object }: Context): Publication | undefined =>
  desired?.publication({ name: object.metadata.name });

/**
 * Puts a key that was just made into the Secret, together with the resource it belongs to and what it answers. One that was
 * announced by an intent or a request only while that stands; else fails with `Overtaken`.
 */
export async function keepKey(
  deps: Deps,
  context: Context,
  id: string,
  nonce: string,
  { key, answer }: Issued,
  announced = true,
): Promise<Published> {
  const { object, kind, account } = context;
  const publication = publicationOf(context);
  if (!publication || !account) return { outcome: "unchanged" };
  const { key: source } = kind.resource.secret ?? {};
  const before = deps.published.find(object, publication.name).note;
  // A Secret that was deleted takes its count along; the status remembers it.
  const counted = Math.max(before?.key.version ?? 0, readStatus(object).key?.version ?? 0);
  const note: Note = {
    resource: id,
    nonce,
    content: contentOf(publication, answer, account),
    key: {
      version: counted + 1,
      issuedAt: new Date(deps.clock.now()).toISOString(),
      fingerprint: fingerprintOf(key),
      ...(source && "life" in source && source.life(answer)),
    },
    rotated: object.metadata.annotations?.[ROTATE_AT] ?? "",
  };
  /** Another process may have taken this key for lost and issued a newer one, which must stay in the Secret. */
  const verify = async () => {
    const fresh = await fetchObject(deps, kind, object);
    const status = fresh && readStatus(fresh);
    const begun = fresh && (openIntent(fresh)?.nonce ?? status?.request?.nonce);
    // Somebody may have taken the annotation away; then nothing is claimed yet.
    const isErased = fresh && countedAnnotation(fresh, INTENT) === undefined && status?.id === undefined;
    if (begun !== nonce && !isErased)
      throw new Overtaken({ status: 409, reason: "Conflict", message: "another key was issued" });
  };
  const data = () => publication.data(answer, key, account.endpoint);
  const written = await write(deps, context, publication, data, note, announced ? { verify } : {});
  if (written.outcome !== "obstructed") countRenewal(deps, context, "a new key was created");
  return written;
}

/** After a key that was lost, the pause before the next one grows, and an Event says why it was made. */
export function countRenewal(deps: Deps, { kind, view, memory, object }: Context, done: string): void {
  const { why } = view.repair ?? {};
  // The first certificate is no renewal.
  if (view.secret !== "missing" || (why === undefined && kind.resource.secret?.certificate)) return;
  memory.renewal = nextAttempt(memory.renewal, "renewal", deps.clock.monotonic(), RENEWAL_MS);
  if (why !== undefined) deps.events.record(object, "Warning", "SecretChanged", `${why}; ${done}`);
}

/** Another process has gone on without what this one has begun. */
export class Overtaken extends KubeError {}

export async function write(
  deps: Deps,
  { kind, object }: Context,
  { name }: Publication,
  data: () => SecretData,
  note: Note,
  options: Pick<PublishOptions, "verify" | "over"> = {},
): Promise<Published> {
  const content = filled(data);
  if ("obstacle" in content) return { outcome: "obstructed", obstacle: content.obstacle };
  const said = { ...note, entries: note.entries ?? fingerprintsOf(content.data) };
  const { metadata } = object;
  const annotations = { [PUBLISHED]: deps.seal.mark("Secret", { metadata: { ...metadata, name } }, PUBLISHED, said) };
  const labels = versionLabel(note);
  const shown = (written: KubeObject) => deps.published.put(written, said);
  return publish(deps, { kind, object }, { name, ...content, annotations, labels }, { shown, ...options });
}

/**
 * The key stays; what else is in the Secret, its labels and its note are put right. What seems to be missing is read by its name
 * first. All is written over what was read, so that a value that somebody writes meanwhile is not lost.
 */
export async function republish(deps: Deps, context: Context): Promise<Requeue> {
  const publication = publicationOf(context);
  const { account, kind, note, view, memory, object } = context;
  if (!publication) return "now";
  const found = await deps.published.read(object, publication.name);
  if (view.secret === "unread" || !found) return "now";
  const item = view.claim && context.shared?.collection.read(view.claim.id).item;
  if (!note || !item || !account) return { inMs: LOOK_MS };
  const held = decoded(found);
  const prints = fingerprintsOf(held);
  const { name = "" } = kind.resource.secret?.key ?? {};
  const isRight = view.secret === "unmarked";
  // It was changed since it was last read: the present content decides.
  if (isRight ? changedEntries(note, prints).length > 0 : prints[name] !== note.key.fingerprint) return "now";
  const content = contentOf(publication, item.raw, account);
  const fresh = isRight ? note : { ...note, content, entries: undefined };
  const data = () => (isRight ? held : publication.data(item.raw, String(held[name]), account.endpoint));
  memory.repair = nextAttempt(memory.repair, content, deps.clock.monotonic());
  try {
    const written = await unlessRefused({ name: publication.name }, () =>
      write(deps, context, publication, data, fresh, { over: found }),
    );
    if ("obstacle" in written) {
      memory.repair = { ...memory.repair, obstacle: written.obstacle };
      return isRight ? "now" : obstructed(deps, context, written.obstacle);
    }
  } catch (error) {
    if (isConflict(error) || isNotFound(error)) return "now";
    throw error;
  }
  if (view.repair?.why !== undefined)
    deps.events.record(object, "Warning", "SecretChanged", `${view.repair.why}; it was written again`);
  return "now";
}

const LOOK_MS = 2000;

/**
 * Puts a new key into the Secret, unless it is there, and is done with the renewal. The key stays in memory until then: the
 * one before works no longer.
 */
export async function deliver(deps: Deps, context: Context): Promise<Requeue> {
  const { renewed } = context.memory;
  const id = context.view.claim?.id;
  const publication = publicationOf(context);
  if (renewed && id !== undefined && renewed.nonce === context.status.request?.nonce) {
    const kept = await keepKey(deps, context, id, renewed.nonce, renewed);
    if (kept.outcome === "obstructed") return recordFailure(deps, context, kept.obstacle);
    context.memory.renewed = undefined;
  }
  const note = publication && deps.published.find(context.object, publication.name).note;
  const entry = context.kind.resource.secret?.key?.name;
  const message = `key ${note?.key.version} is in Secret ${publication?.name} under ${entry}; the previous key no longer works`;
  const standing = { mode: "reconciling", reason: "KeyIssued", message } as const;
  await record(deps, context, standing, { request: undefined, ...(note && { key: note.key }) });
  deps.events.record(context.object, "Normal", "KeyIssued", message);
  return "now";
}

/** A Secret cannot be written: nothing was sent, and nothing is until that has changed. */
export function obstructed(deps: Deps, context: Context, obstacle: Obstacle): Promise<Requeue> {
  const after = refreshed(deps, context);
  const isOwn = isDeepStrictEqual(after.status.request, context.status.request);
  return recordFailure(deps, after, obstacle, { changes: isOwn ? { request: undefined } : {} });
}
