import type { Desired, Publication, SecretData } from "../../kinds/desired.ts";
import { Unwritable } from "../../kinds/fields/encode.ts";
import { dueAt } from "../../kinds/fields/rotation.ts";
import type { ResourceKind } from "../../kinds/kind.ts";
import type { KubeObject } from "../../kube/resource.ts";
import { hashBody } from "../../runtime/hash.ts";
import type { AccountHandle } from "../accounts/accounts.ts";
import type { Claim } from "../state/intent.ts";
import type { Memory } from "../state/memory.ts";
import { CERTIFICATE_VERSION, KEY_VERSION, ROTATE_AT } from "../state/names.ts";
import { type CachedSecret, changedEntries, labelsOf, type Note } from "../state/published.ts";
import { pauseLeft } from "../state/succession.ts";
import type { Obstacle } from "../status/reasons.ts";
import type { KeyFacts, ResourceStatus } from "../status/schema.ts";
import { readStatus } from "../status/status.ts";
import type { Shared } from "./collections.ts";
import type { Deps } from "./deps.ts";
import { messageOf } from "./obstacles.ts";
import type { SecretState, View } from "./view.ts";

type Addresses = Pick<AccountHandle, "endpoint">;

/** All that is in a Secret, or why the platform's words cannot go into it. */
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

/** Everything of a Secret but the key. */
export function contentOf(publication: Publication, item: unknown, { endpoint }: Addresses): string {
  const content = filled(() => publication.data(item, "", endpoint));
  return hashBody("data" in content ? content.data : content.obstacle).slice(0, 12);
}

/** What came before the resource, and whether its time is over. */
export function previousOf(
  { previous }: ResourceStatus,
  shared: Shared | undefined,
  platformNow: number,
): View["previous"] {
  if (!previous) return undefined;
  const asOf = shared?.collection.read(previous.id).asOf ?? Number.NEGATIVE_INFINITY;
  return { asOf, isOver: Date.parse(previous.until) <= platformNow };
}

/** What is known of the Secret with a key. */
export interface Evidence {
  /** Id of the resource whose key it is to hold. */
  id: string;
  /** Under this name the key is in it; undefined for a certificate, which can be asked for again. */
  keyName: string | undefined;
  secret: CachedSecret | undefined;
  note: Note | undefined;
  /** What status says of the key, and the creation that status answers. */
  recorded: KeyFacts | undefined;
  nonce: string | undefined;
  /** Everything but the key, as it ought to be; undefined when that is not known now. */
  content: string | undefined;
  labels: Readonly<Record<string, string>>;
  rotated: string;
}

/** What a Secret holds: whether its key is the one on record, and what of the rest somebody has changed. */
export type Holding =
  | { state: "missing"; why: string | undefined }
  | { state: "outdated" | "unmarked" | "current"; note: Note; edited: string[] };

/**
 * A Secret that is the object's own and whose key has the fingerprint on record holds the key, whatever became of its labels
 * and its note. An entry that was added by somebody else is left alone.
 */
export function judgeSecret(evidence: Evidence): Holding {
  const { id, keyName, secret, recorded } = evidence;
  if (!secret) return { state: "missing", why: "was deleted" };
  const { entries } = secret;
  const note = evidence.note ?? noteFromStatus(evidence, entries);
  if (!note) return { state: "missing", why: `was changed: ${keyName ?? "its note"} is not what was written` };
  if (note.resource !== id) return { state: "missing", why: `has no key of ${id}` };
  if (recorded && note.key.version < recorded.version)
    return { state: "missing", why: `was changed: it has version ${note.key.version}, not ${recorded.version}` };
  const edited = changedEntries(note, entries);
  const isRight = note.entries && edited.length === 0 && (evidence.content ?? note.content) === note.content;
  const isLost = keyName === undefined ? !isRight : entries[keyName] !== note.key.fingerprint;
  if (isLost) {
    const names = edited.length > 0 ? edited.join(", ") : keyName;
    return { state: "missing", why: names && `was changed: ${names} is not what was written` };
  }
  if (!isRight) return { state: "outdated", note, edited };
  const labels = Object.entries({ ...evidence.labels, ...versionLabel(note) });
  const isMarked = secret.isNoted && labels.every(([name, value]) => secret.labels[name] === value);
  return { state: isMarked ? "current" : "unmarked", note, edited };
}

/** The label by which tools that reload workloads know a new key. */
export const versionLabel = ({ key }: Pick<Note, "key">): Record<string, string> => ({
  ["serial" in key ? CERTIFICATE_VERSION : KEY_VERSION]: String(key.version),
});

/** The note as it would be, when the key is the one that status tells of. A request for a new one counts as answered. */
function noteFromStatus(
  { id, keyName, recorded, nonce = "", rotated }: Evidence,
  entries: CachedSecret["entries"],
): Note | undefined {
  if (!recorded || keyName === undefined || entries[keyName] !== recorded.fingerprint) return undefined;
  return { resource: id, nonce, content: "", key: recorded, rotated };
}

/** A read by name proves for so long that a key is lost. */
const PROOF_MS = 60_000;
/** The first pause between two keys that are made because the one before was lost. */
export const RENEWAL_MS = 10_000;

/** When a lost key may be made anew: not soon after the last one, also when a process before this one has made it. */
function renewableAt({ renewal }: Memory, recorded: KeyFacts | undefined, { clock }: Pick<Deps, "clock">): number {
  if (renewal) return renewal.retryAt;
  if (!recorded || recorded.version < 2) return Number.NEGATIVE_INFINITY;
  const ageMs = clock.now() - Date.parse(recorded.issuedAt);
  // Another process may have had another clock: a time to come tells nothing.
  return ageMs < 0 ? Number.NEGATIVE_INFINITY : clock.monotonic() + RENEWAL_MS - ageMs;
}

interface Keeping {
  secret: SecretState;
  /** What the Secret says about its key, or would say. */
  note?: Note;
  dueAt: number | undefined;
  renewal: View["renewal"];
  repair: View["repair"];
}

/** How the Secret for workloads stands, when the key in it has served its time, and what became of a renewal. */
export function secretOf(
  deps: Deps,
  kind: ResourceKind,
  object: KubeObject,
  desired: Desired | undefined,
  { id }: Claim,
  { shared, account }: { shared: Shared | undefined; account: AccountHandle | undefined },
  memory: Memory,
  platformNow: number,
): Keeping | undefined {
  const publication = desired?.publication({ name: object.metadata.name });
  if (!publication) return undefined;
  const { name } = publication;
  const { known, note, secret, readAt } = deps.published.find(object, name);
  const status = readStatus(object);
  const nonce = status.request?.nonce;
  const answered = nonce !== undefined && (note?.nonce === nonce || memory.renewed?.nonce === nonce);
  const renewal = nonce === undefined ? undefined : answered ? "answered" : "lost";
  if (!known) return { secret: "unknown", dueAt: undefined, renewal, repair: undefined };
  const asked = object.metadata.annotations?.[ROTATE_AT];
  const item = shared?.collection.read(id).item;
  const content = item && account ? contentOf(publication, item.raw, account) : undefined;
  const { certificate, key: oneTime } = kind.resource.secret ?? {};
  const recorded = status.id === id ? (status.key ?? status.certificate) : undefined;
  const held = judgeSecret({
    id,
    keyName: oneTime?.name,
    secret,
    note,
    recorded,
    nonce: status.nonce,
    content,
    labels: labelsOf(object),
    rotated: asked ?? "",
  });
  if (held.state === "missing") {
    const now = deps.clock.monotonic();
    const at = renewableAt(memory, certificate ? undefined : recorded, deps);
    // Without anything on record there is no key of ours to lose.
    const isUnrecorded = !recorded && (certificate !== undefined || status.nonce === undefined);
    const isRead = readAt !== undefined && (now < at || readAt >= Math.max(at, now - PROOF_MS));
    const state = isUnrecorded || isRead ? "missing" : "unread";
    const why = recorded && status.secretName === name && held.why ? `Secret ${name} ${held.why}` : undefined;
    return { secret: state, dueAt: asked === undefined ? undefined : 0, renewal, repair: { why, at } };
  }
  const isAsked = asked !== undefined && asked !== held.note.rotated;
  const { renewAfter = 0, succession } = memory;
  const after = Math.max(renewAfter, platformNow + pauseLeft(succession, deps.clock.monotonic()));
  const aheadMs = platformNow - deps.clock.now();
  const due = isAsked ? 0 : dueAt(held.note.key, desired?.rotation(), { after, aheadMs });
  const { edited } = held;
  const why = edited.length > 0 ? `Secret ${name} was changed: ${edited.join(", ")}` : undefined;
  const at = memory.repair?.what === content ? memory.repair?.retryAt : undefined;
  return {
    secret: held.state,
    note: held.note,
    dueAt: due,
    renewal,
    repair: { why, at: at ?? Number.NEGATIVE_INFINITY },
  };
}
