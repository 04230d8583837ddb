import type { OutputTarget } from "../../kinds/desired.ts";
import { outputData } from "../../kinds/fields/output.ts";
import { CONFIG_MAPS, encoded, SECRETS, type SecretContent } from "../../kube/write/owned-secret.ts";
import type { Item } from "../../platform/collections/collection.ts";
import { hashBody } from "../../runtime/hash.ts";
import type { Claim } from "../state/intent.ts";
import type { Memory } from "../state/memory.ts";
import { RECONCILE_AT } from "../state/names.ts";
import { contentHash } from "../state/publications/fingerprints.ts";
import type { Output } from "../state/published.ts";
import type { Obstacle } from "../status/reasons.ts";
import { readFacts } from "../status/status.ts";
import type { Deps } from "./deps.ts";
import { filled } from "./secret-state.ts";
import type { Context, OutputState } from "./view.ts";

/** What is to be written, and what was written before and is to be deleted; undefined if all is up to date. */
export interface OutputWork {
  wanted: Required<Pick<SecretContent, "resource" | "name" | "data">> | undefined;
  stale: Output[];
  /** Equal for the same work, until somebody asks for it anew. */
  what: string;
}

/** What is to be done about spec.output, judged by what the watch has shown; or what cannot be written. */
export function outputWork(
  { published }: Pick<Deps, "published">,
  { kind, object, desired, related }: Pick<Context, "kind" | "object" | "desired" | "related">,
  claim: Claim | undefined,
  item: Item | undefined,
): "unknown" | { obstacle: Obstacle } | OutputWork | undefined {
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
  const is = found.find(isWanted)?.content;
  const shall = wanted && contentHash({ data: encoded(wanted.resource, wanted.data) });
  if (stale.length === 0 && is === shall) return undefined;
  const { generation, annotations } = object.metadata;
  const what = hashBody([generation, annotations?.[RECONCILE_AT], target, shall, stale.length]);
  return { wanted: is === shall ? undefined : wanted, stale, what };
}

function placeOf({ secretName, configMapName }: OutputTarget) {
  return secretName !== undefined
    ? { resource: SECRETS, name: secretName }
    : { resource: CONFIG_MAPS, name: configMapName ?? "" };
}

/** Retry interval while an answer cannot be written. */
const UNWRITABLE_MS = 60_000;

/** When work on the output is due, and what was in its way the last time. */
export function outputState(
  work: ReturnType<typeof outputWork>,
  { output: last }: Memory,
  now: number,
): OutputState | undefined {
  if (work === undefined || work === "unknown") return work;
  if ("obstacle" in work) return { dueAt: now + UNWRITABLE_MS, obstacle: work.obstacle };
  if (last?.what !== work.what) return { dueAt: now };
  return { dueAt: last.retryAt, ...(last.obstacle && { obstacle: last.obstacle }) };
}
