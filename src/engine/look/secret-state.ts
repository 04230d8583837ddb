import { hashBody } from "../../hash.ts";
import type { Desired, Publication, SecretData } from "../../kinds/desired.ts";
import { Unwritable } from "../../kinds/fields/encode.ts";
import { dueAt } from "../../kinds/fields/rotation.ts";
import type { KubeObject } from "../../kube/resource.ts";
import type { AccountHandle } from "../accounts/accounts.ts";
import type { Claim } from "../objects/intent.ts";
import type { Memory } from "../objects/memory.ts";
import { ROTATE_AT } from "../objects/names.ts";
import { pauseLeft } from "../objects/succession.ts";
import type { Obstacle } from "../schema/reasons.ts";
import { readStatus } from "../schema/status.ts";
import type { ResourceStatus } from "../schema/status-schema.ts";
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

/** How the Secret for workloads stands, when the key in it has served its time, and what became of a renewal. */
export function secretOf(
  { published, clock }: Deps,
  object: KubeObject,
  desired: Desired | undefined,
  { id }: Claim,
  { shared, account }: { shared: Shared | undefined; account: AccountHandle | undefined },
  { renewAfter = 0, renewed, succession }: Memory,
  platformNow: number,
): { secret: SecretState; dueAt: number | undefined; renewal: View["renewal"] } | undefined {
  const publication = desired?.publication({ name: object.metadata.name });
  if (!publication) return undefined;
  const { known, note, current: isSigned } = published.find(object, publication.name);
  const nonce = readStatus(object).request?.nonce;
  const answered = nonce !== undefined && (note?.nonce === nonce || renewed?.nonce === nonce);
  const renewal = nonce === undefined ? undefined : answered ? "answered" : "lost";
  if (!known) return { secret: "unknown", dueAt: undefined, renewal };
  const asked = object.metadata.annotations?.[ROTATE_AT];
  if (note?.resource !== id) return { secret: "missing", dueAt: asked === undefined ? undefined : 0, renewal };
  const item = shared?.collection.read(id).item;
  const current = isSigned && (!item || !account || contentOf(publication, item.raw, account) === note.content);
  const isAsked = asked !== undefined && asked !== note.rotated;
  const after = Math.max(renewAfter, platformNow + pauseLeft(succession, clock.monotonic()));
  const due = isAsked ? 0 : dueAt(note.key, desired?.rotation(), { after, aheadMs: platformNow - clock.now() });
  return { secret: current ? "current" : "outdated", dueAt: due, renewal };
}
