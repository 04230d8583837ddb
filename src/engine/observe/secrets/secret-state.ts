import type { Publication, SecretData } from "../../../kinds/desired.ts";
import { Unwritable } from "../../../kinds/fields/secrets/encode.ts";
import { dueAt } from "../../../kinds/fields/secrets/rotation.ts";
import { messageOf } from "../../../kinds/fields/words-of-spec.ts";
import { NOTABLE_SKEW_MS } from "../../../platform/calls/platform-time.ts";
import type { Item } from "../../../platform/collections/collection.ts";
import { hashBody } from "../../../runtime/hash.ts";
import type { AccountHandle } from "../../accounts/accounts.ts";
import type { Memory } from "../../state/memory.ts";
import { CERTIFICATE_VERSION, KEY_VERSION, ROTATE_AT } from "../../state/names.ts";
import { observes } from "../../state/object.ts";
import { changedEntries, labelsOf, type Note } from "../../state/published.ts";
import { pauseLeft } from "../../state/succession.ts";
import type { Obstacle } from "../../status/reasons.ts";
import type { KeyFacts, ResourceStatus } from "../../status/schema.ts";
import type { Deps } from "../deps.ts";
import type { Context, SecretsView, Subject } from "../view.ts";

/** The entries of a Secret, or why an answer of the platform cannot be written into them. */
export function filled(data: () => SecretData): { data: SecretData } | { obstacle: Obstacle } {
  try {
    return { data: data() };
  } catch (error) {
    const isUnwritable = error instanceof Unwritable;
    const why = isUnwritable ? error.message : messageOf(error, []);
    const message = `Secret not written: invalid answer of the platform: ${why}`;
    return { obstacle: { reason: isUnwritable ? "InvalidAnswer" : "PlatformUnavailable", message } };
  }
}

/** Hash of all entries of a Secret except the key. */
export function contentOf(publication: Publication, item: unknown, { endpoint }: AccountHandle): string {
  const content = filled(() => publication.data(item, "", endpoint));
  return hashBody("data" in content ? content.data : content.obstacle).slice(0, 12);
}

/** The note of the Secret if it answers the intent or renewal with this nonce. */
export function noteWith(
  { published }: Deps,
  { publication, object }: Pick<Context, "publication" | "object">,
  nonce: string,
): Note | undefined {
  const note = publication && published.find(object, publication.name).note;
  return note?.nonce === nonce ? note : undefined;
}

type Holding =
  | { state: "missing"; why: string | undefined }
  | { state: "outdated" | "unmarked" | "current"; note: Note; edited: string[] };

/** Whether a Secret holds the key on record, by its fingerprint, and which of its entries were changed. */
function judgeSecret(
  { kind, object, status }: Subject,
  id: string,
  { note: stored, secret }: Pick<ReturnType<Deps["published"]["find"]>, "note" | "secret">,
  content: string | undefined,
): Holding {
  if (!secret) return { state: "missing", why: "was deleted" };
  // A certificate has no such entry: it can be fetched again.
  const keyName = kind.resource.secret?.key?.name;
  const recorded = recordedKey(status, id);
  const { entries } = secret;
  const isRecorded = recorded && keyName !== undefined && entries[keyName] === recorded.fingerprint;
  // A Secret without its note still counts if it has the key in status. A requested rotation then counts as done.
  const rotated = object.metadata.annotations?.[ROTATE_AT] ?? "";
  const restored = isRecorded
    ? { resource: id, nonce: status.nonce ?? "", content: "", key: recorded, rotated }
    : undefined;
  const note: Note | undefined = stored ?? restored;
  if (!note) return { state: "missing", why: `was changed: ${keyName ?? "its note"} is not what was written` };
  if (note.resource !== id) return { state: "missing", why: `has no key of ${id}` };
  if (recorded && note.key.version < recorded.version)
    return { state: "missing", why: `was changed: it has version ${note.key.version}, not ${recorded.version}` };
  const edited = changedEntries(note, entries);
  const isRight = note.entries && edited.length === 0 && (content ?? note.content) === note.content;
  const isLost = keyName === undefined ? !isRight : entries[keyName] !== note.key.fingerprint;
  if (isLost) {
    const names = edited.length > 0 ? edited.join(", ") : keyName;
    return { state: "missing", why: names && `was changed: ${names} is not what was written` };
  }
  if (!isRight) return { state: "outdated", note, edited };
  const labels = Object.entries({ ...labelsOf(object), ...versionLabel(note) });
  const isMarked = secret.isNoted && labels.every(([name, value]) => secret.labels[name] === value);
  return { state: isMarked ? "current" : "unmarked", note, edited };
}

/** The key or certificate in status, if it belongs to this resource. */
const recordedKey = (status: ResourceStatus, id: string): KeyFacts | undefined =>
  status.id === id ? (status.key ?? status.certificate) : undefined;

/** The label that tools which restart workloads watch. */
export const versionLabel = ({ key }: Pick<Note, "key">): Record<string, string> => ({
  ["serial" in key ? CERTIFICATE_VERSION : KEY_VERSION]: String(key.version),
});

/** How long a read by name proves that a key is lost. */
const PROOF_MS = 60_000;
/** The first pause after a key was renewed because it was lost. */
export const RENEWAL_MS = 10_000;

/** When a lost key may be renewed. There is a pause after the last renewal, also after one by an earlier process. */
function renewableAt({ renewal }: Memory, recorded: KeyFacts | undefined, { clock }: Deps): number {
  if (renewal) return renewal.retryAt;
  if (!recorded || recorded.version < 2) return Number.NEGATIVE_INFINITY;
  const ageMs = clock.now() - Date.parse(recorded.issuedAt);
  // A time in the future comes from another clock, and says nothing.
  return ageMs < 0 ? Number.NEGATIVE_INFINITY : clock.monotonic() + RENEWAL_MS - ageMs;
}

type KeyState = Pick<SecretsView, "secret" | "repair" | "keyDueAt" | "renewal"> & { note?: Note };

const NO_SECRET: KeyState = { secret: undefined, repair: undefined, keyDueAt: undefined, renewal: undefined };

/** The state of the Secret for workloads, when its key is due, and the outcome of a renewal. */
export function observeSecret(
  deps: Deps,
  subject: Subject,
  { platformNow, previousMs = 0 }: { platformNow: number; previousMs: number | undefined },
  account?: AccountHandle,
  item?: Item,
): KeyState {
  const { kind, object, status, memory, desired, publication, claim } = subject;
  if (!publication || !claim || observes(object)) return NO_SECRET;
  const { name } = publication;
  const { known, note, secret, readAt } = deps.published.find(object, name);
  const nonce = status.request?.nonce;
  const isAnswered = note?.nonce === nonce || memory.renewed?.nonce === nonce;
  const renewal = nonce === undefined ? undefined : isAnswered ? "answered" : "lost";
  if (!known) return { ...NO_SECRET, secret: "unknown", renewal };
  const asked = object.metadata.annotations?.[ROTATE_AT];
  const content = item && account ? contentOf(publication, item.raw, account) : undefined;
  const held = judgeSecret(subject, claim.id, { note, secret }, content);
  const now = deps.clock.monotonic();
  if (held.state === "missing") {
    const certificate = kind.resource.secret?.certificate;
    const recorded = recordedKey(status, claim.id);
    const at = renewableAt(memory, certificate ? undefined : recorded, deps);
    // Without a record there was no key of ours.
    const isUnrecorded = !recorded && (certificate !== undefined || status.nonce === undefined);
    // Before the renewal is due, any read counts. Then only a fresh one proves that the key is lost.
    const isRead = readAt !== undefined && (now < at || readAt >= Math.max(at, now - PROOF_MS));
    const state = isUnrecorded || isRead ? "missing" : "unread";
    const why = recorded && status.secretName === name && held.why ? `Secret ${name} ${held.why}` : undefined;
    return { secret: state, keyDueAt: asked === undefined ? undefined : 0, renewal, repair: { why, at } };
  }
  const isAsked = asked !== undefined && asked !== held.note.rotated;
  const aheadMs = platformNow - deps.clock.now();
  // A renewal ends the previous token. If it is due by Date headers alone, the previous one still gets its time.
  const previous = aheadMs > NOTABLE_SKEW_MS ? previousMs : 0;
  const after = platformNow + Math.max(pauseLeft(memory.succession, now), (memory.renewAfter ?? 0) - now, previous);
  const keyDueAt = isAsked ? 0 : dueAt(held.note.key, desired?.rotation(), { after, aheadMs });
  const why = held.edited.length > 0 ? `Secret ${name} was changed: ${held.edited.join(", ")}` : undefined;
  const lastRepair = memory.repair?.what === content ? memory.repair : undefined;
  const at = lastRepair?.retryAt ?? Number.NEGATIVE_INFINITY;
  return { secret: held.state, note: held.note, keyDueAt, renewal, repair: { why, at } };
}
