import { isDeepStrictEqual } from "node:util";
import type { Publication, SecretData } from "../../kinds/desired.ts";
import { isConflict, isNotFound, KubeError } from "../../kube/client/errors.ts";
import type { Requeue } from "../../kube/queue/work.ts";
import type { KubeObject } from "../../kube/resource.ts";
import { decoded } from "../../kube/write/owned-secret.ts";
import { nextAttempt } from "../../runtime/attempt.ts";
import { RECHECK_MS } from "../decide/waiting.ts";
import type { Deps } from "../observe/deps.ts";
import { contentOf, filled, RENEWAL_MS, versionLabel } from "../observe/secrets/secret-state.ts";
import type { Context } from "../observe/view.ts";
import type { Issued } from "../state/memory.ts";
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
 * Why the Secret of an object cannot be written, by a dry run with everything but the key. Asked before a key is made: without a
 * Secret it would be lost, and the previous one would no longer work.
 */
export async function obstacleToKey(deps: Deps, context: Context, item?: unknown): Promise<Obstacle | undefined> {
  const { account, publication } = context;
  if (!publication || !account) return undefined;
  const content = item === undefined ? { data: {} } : filled(() => publication.data(item, "", account.endpoint));
  return "obstacle" in content ? content.obstacle : obstacleTo(deps, context, { name: publication.name, ...content });
}

/**
 * Puts a new key into the Secret, with its resource and the intent or request that it answers. If that was announced, it must
 * still be open; otherwise this throws `Overtaken`.
 */
export async function keepKey(
  deps: Deps,
  context: Context,
  id: string,
  nonce: string,
  { key, answer }: Issued,
  announced = true,
): Promise<Published> {
  const { object, kind, account, publication } = context;
  if (!publication || !account) return { outcome: "unchanged" };
  const { key: source } = kind.resource.secret ?? {};
  const before = deps.published.find(object, publication.name).note;
  // The status has the version, too, in case the Secret was deleted.
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
    // Somebody may have removed the annotation; then nothing is claimed yet.
    const isErased = fresh && countedAnnotation(fresh, INTENT) === undefined && status?.id === undefined;
    if (begun !== nonce && !isErased)
      throw new Overtaken({ status: 409, reason: "Conflict", message: "another key was issued" });
  };
  const data = () => publication.data(answer, key, account.endpoint);
  const written = await write(deps, context, publication, data, note, announced ? { verify } : {});
  if (written.outcome !== "obstructed") countRenewal(deps, context, "a new key was created");
  return written;
}

/** After a lost key the backoff grows, and an Event says why another one was made. */
export function countRenewal(deps: Deps, { kind, view, memory, object }: Context, done: string): void {
  const { why } = view.secrets.repair ?? {};
  // The first certificate is no renewal.
  if (view.secrets.secret !== "missing" || (why === undefined && kind.resource.secret?.certificate)) return;
  memory.renewal = nextAttempt(memory.renewal, "renewal", deps.clock.monotonic(), RENEWAL_MS);
  if (why !== undefined) deps.events.record(object, "Warning", "SecretChanged", `${why}; ${done}`);
}

/** Another process has gone on without the key that this one has made. */
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
  const full = { ...note, entries: note.entries ?? fingerprintsOf(content.data) };
  const { metadata } = object;
  const annotations = { [PUBLISHED]: deps.seal.mark("Secret", { metadata: { ...metadata, name } }, PUBLISHED, full) };
  const labels = versionLabel(note);
  const shown = (written: KubeObject) => deps.published.put(written, full);
  return publish(deps, { kind, object }, { name, ...content, annotations, labels }, { shown, ...options });
}

/**
 * Corrects the Secret, its labels and its note, and keeps the key. A Secret that seems to be missing is read by its name first.
 * The write replaces only what was read, so that no value is lost that somebody writes meanwhile.
 */
export async function republish(deps: Deps, context: Context): Promise<Requeue> {
  const { account, kind, note, view, memory, object, item, publication } = context;
  if (!publication) return "now";
  const found = await deps.published.read(object, publication.name);
  if (view.secrets.secret === "unread" || !found) return "now";
  if (!note || !item || !account) return { inMs: RECHECK_MS };
  const held = decoded(found);
  const prints = fingerprintsOf(held);
  const { name = "" } = kind.resource.secret?.key ?? {};
  const isUnmarked = view.secrets.secret === "unmarked";
  // It has changed since it was last read: the next pass decides by its current content.
  if (isUnmarked ? changedEntries(note, prints).length > 0 : prints[name] !== note.key.fingerprint) return "now";
  const content = contentOf(publication, item.raw, account);
  const fresh = isUnmarked ? note : { ...note, content, entries: undefined };
  const data = () => (isUnmarked ? held : publication.data(item.raw, String(held[name]), account.endpoint));
  memory.repair = nextAttempt(memory.repair, content, deps.clock.monotonic());
  try {
    const written = await unlessRefused({ name: publication.name }, () =>
      write(deps, context, publication, data, fresh, { over: found }),
    );
    if ("obstacle" in written) {
      memory.repair = { ...memory.repair, obstacle: written.obstacle };
      return isUnmarked ? "now" : obstructed(deps, context, written.obstacle);
    }
  } catch (error) {
    if (isConflict(error) || isNotFound(error)) return "now";
    throw error;
  }
  if (view.secrets.repair?.why !== undefined)
    deps.events.record(object, "Warning", "SecretChanged", `${view.secrets.repair.why}; it was written again`);
  return "now";
}

/**
 * Puts a renewed key into the Secret, unless it is there, and ends the renewal. The key stays in memory until then, because the
 * previous one no longer works.
 */
export async function deliver(deps: Deps, context: Context): Promise<Requeue> {
  const { publication } = context;
  const { renewed } = context.memory;
  const id = context.view.resource.claim?.id;
  if (renewed && id !== undefined && renewed.nonce === context.status.request?.nonce) {
    const kept = await keepKey(deps, context, id, renewed.nonce, renewed);
    if (kept.outcome === "obstructed") return recordFailure(deps, context, kept.obstacle);
    context.memory.renewed = undefined;
  }
  const note = publication && deps.published.find(context.object, publication.name).note;
  const entry = context.kind.resource.secret?.key?.name;
  const message = `key ${note?.key.version} is in Secret ${publication?.name} under ${entry}; the previous key no longer works`;
  const condition = { mode: "reconciling", reason: "KeyIssued", message } as const;
  await record(deps, context, condition, { request: undefined, ...(note && { key: note.key }) });
  deps.events.record(context.object, "Normal", "KeyIssued", message);
  return "now";
}

/** Records why a Secret cannot be written. Nothing is sent to the platform until it can. */
export function obstructed(deps: Deps, context: Context, obstacle: Obstacle): Promise<Requeue> {
  const after = refreshed(deps, context);
  const isOwn = isDeepStrictEqual(after.status.request, context.status.request);
  return recordFailure(deps, after, obstacle, isOwn ? { request: undefined } : {});
}
