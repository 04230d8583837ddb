import type { OutputTarget } from "../../../kinds/desired.ts";
import { outputData } from "../../../kinds/fields/secrets/output.ts";
import { hasResource } from "../../../kinds/kind.ts";
import { CONFIG_MAPS, SECRETS } from "../../../kube/resource.ts";
import { encoded, type SecretContent } from "../../../kube/write/owned-secret.ts";
import type { Item } from "../../../platform/collections/collection.ts";
import { hashBody } from "../../../runtime/hash.ts";
import type { AccountHandle } from "../../accounts/accounts.ts";
import type { Claim } from "../../state/intent.ts";
import type { Memory } from "../../state/memory.ts";
import { RECONCILE_AT } from "../../state/names.ts";
import { contentHash } from "../../state/publications/fingerprints.ts";
import type { Output } from "../../state/published.ts";
import type { Obstacle } from "../../status/reasons.ts";
import { readFacts } from "../../status/status.ts";
import type { Deps } from "../deps.ts";
import type { Context, OutputState, Subject } from "../view.ts";
import { filled } from "./secret-state.ts";

export interface OutputWork {
  /** Undefined if it is up to date. */
  wanted: Required<Pick<SecretContent, "resource" | "name" | "data">> | undefined;
  /** The Secrets and ConfigMaps that spec.output named before. */
  stale: Output[];
  /** Hash of the work: a retry waits for its backoff, new work does not. */
  what: string;
}

type Work = "unknown" | { obstacle: Obstacle } | OutputWork | undefined;

/** The writes and deletions for spec.output, judged by the watch; undefined if all is up to date. */
export function outputWork(
  { published }: Pick<Deps, "published">,
  { kind, object, desired, related }: Pick<Context, "kind" | "object" | "desired" | "related">,
  claim: Claim | undefined,
  item: Item | undefined,
): Work {
  const { output } = kind.resource;
  if (!output || !desired || !claim || !item) return undefined;
  const { known, found } = published.outputs(object);
  const target = desired.output;
  if (!target && found.length === 0) return undefined;
  if (!known) return "unknown";
  const shown = readFacts(object);
  const content =
    target && filled(() => outputData(output.values(item.raw, claim, { shown, ...(related && { related }) })));
  if (content && "obstacle" in content) return content;
  const wanted = content && { ...placeOf(target), ...content };
  const isWanted = ({ resource, object: { metadata } }: Output) =>
    resource === wanted?.resource && metadata.name === wanted.name;
  const stale = found.filter((each) => !isWanted(each));
  const currentHash = found.find(isWanted)?.content;
  const desiredHash = wanted && contentHash({ data: encoded(wanted.resource, wanted.data) });
  if (stale.length === 0 && currentHash === desiredHash) return undefined;
  const { generation, annotations } = object.metadata;
  const what = hashBody([generation, annotations?.[RECONCILE_AT], target, desiredHash, stale.length]);
  return { wanted: currentHash === desiredHash ? undefined : wanted, stale, what };
}

function placeOf({ secretName, configMapName }: OutputTarget) {
  return secretName !== undefined
    ? { resource: SECRETS, name: secretName }
    : { resource: CONFIG_MAPS, name: configMapName ?? "" };
}

/** Retry interval while an answer of the platform cannot be written. */
const UNWRITABLE_MS = 60_000;

/** When work on the output is due, and why the last attempt failed. */
export function outputState(work: Work, { output: last }: Memory, now: number): OutputState | undefined {
  if (work === undefined || work === "unknown") return work;
  if ("obstacle" in work) return { dueAt: now + UNWRITABLE_MS, obstacle: work.obstacle };
  if (last?.what !== work.what) return { dueAt: now };
  return { dueAt: last.retryAt, ...(last.obstacle && { obstacle: last.obstacle }) };
}

/** The members of another collection that the output shows. One that was not read yet has no entry. */
export function relatedMembers(deps: Deps, subject: Subject, account?: AccountHandle, item?: Item) {
  const { collections, objects } = deps;
  const { key, kind, desired, claim } = subject;
  const { related } = kind.resource.output ?? {};
  const other = related && objects.kinds.filter(hasResource).find((each) => each.kind === related.kind);
  if (!other || !account || !claim || !item) return undefined;
  const found = new Map<string, unknown>();
  try {
    const ids = desired?.output ? related.ids(item.raw) : [];
    const collection = collections.related(key, { account, kind: other, parents: claim.parents }, ids);
    for (const id of ids) {
      const member = collection?.read(id);
      if (member?.asOf !== undefined) found.set(id, member.item?.raw);
      if (!member?.item) collection?.expect(id);
    }
  } catch {
    // The Account has no address of that product, or the kind cannot read the answer. Other parts report both.
  }
  return desired?.output && found;
}
