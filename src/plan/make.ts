import type { ClusterReader } from "../diagnostics/cluster.ts";
import { allObjects } from "../diagnostics/objects.ts";
import type { PlatformReader } from "../diagnostics/reader.ts";
import type { Sources } from "../diagnostics/sources.ts";
import { objectOf as accountObject } from "../engine/accounts/accounts.ts";
import { keyTo } from "../engine/state/object.ts";
import { account } from "../kinds/identity/account.ts";
import { GROUP, kinds, VERSION } from "../kinds/index.ts";
import { hasResource, type Kind } from "../kinds/kind.ts";
import type { KubeClient } from "../kube/client/transport.ts";
import { type KubeObject, NAMESPACES } from "../kube/resource.ts";
import { systemClock } from "../runtime/clock.ts";
import { openHandle } from "./inputs/accounts.ts";
import { dryRun, offline } from "./inputs/dry-run.ts";
import { type Live, liveObjects, namespacesOf, nothingLive } from "./inputs/live.ts";
import type { Manifest, Manifests } from "./inputs/manifests.ts";
import { isChange, type PlanItem } from "./item.ts";
import type { Candidate } from "./outcome.ts";
import { planAll, type Sight } from "./planner.ts";
import { type Cost, priceAll } from "./prices.ts";
import { createStage, type Stage } from "./stage.ts";

export interface PlanAsked {
  manifests: Manifests;
  /** Undefined: no cluster. Without a client for dry runs, the CRD schemas replace the API server. */
  cluster: { reader: ClusterReader; client?: KubeClient | undefined } | undefined;
  /** The platform of an Account; without a name, the one of the environment. */
  platform(account?: string): Promise<PlatformReader>;
  /** The CRD schema of a kind. */
  schemaOf(kind: Kind): object;
  /** Label selector of the objects that are deleted if no file has them. */
  prune?: string | undefined;
  /** Deletes all objects of the files. */
  destroy?: boolean;
  /** Whether to read prices; default true. */
  prices?: boolean;
  sources: Pick<Sources, "signal" | "progress" | "missing">;
}

export interface Plan {
  items: PlanItem[];
  months: ReadonlyMap<PlanItem, { before: number; after: number }>;
  cost: Cost | undefined;
  /** Objects of the files that are not Mooring's. */
  others: string[];
  /** How objects are validated: by the API server, or by the schemas and rules of the CRDs. */
  validatedBy: "server" | "schemas";
  changes: boolean;
}

/** Maximum concurrent calls to the API server. */
const AT_ONCE = 16;

/** Returns the effects of an apply of these files. Writes nothing. */
export async function makePlan(asked: PlanAsked): Promise<Plan> {
  const { manifests, sources } = asked;
  const { signal } = sources;
  if (asked.destroy && asked.prune !== undefined) throw new Error("prune and destroy exclude each other: use one");
  const live = asked.cluster
    ? await liveObjects(asked, asked.cluster.reader, asked.destroy || asked.prune !== undefined)
    : nothingLive;
  const candidates = await candidatesOf(asked, live);
  const labels = await namespaceLabels(asked);
  await using stage = createStage({ kinds, clock: systemClock, signal, labelsOf: (name) => labels.get(name) ?? {} });
  for (const object of live.objects.values()) stage.put(object);
  for (const { desired } of candidates) if (desired) stage.put(desired);
  if (!asked.cluster) addAccounts(stage, candidates);
  const reader = await openAccounts(asked, stage, candidates, live.seesAllAccounts);
  const sight: Sight = {
    accounts: (namespace) => live.seesAllAccounts || accountsIn(stage, namespace) > 1,
    object: (key) => !live.hidden.has(key),
  };
  const items = await planAll(stage, candidates, sight, (done) => sources.progress(done, "objects compared"));
  const isPriced = reader !== undefined && (asked.prices ?? true);
  const prices = isPriced ? await priceAll(items, reader, signal).catch(missingPrices(asked)) : undefined;
  return {
    items,
    months: prices?.months ?? new Map(),
    cost: prices?.cost,
    others: manifests.others,
    validatedBy: asked.cluster?.client ? "server" : "schemas",
    changes: items.some(isChange),
  };
}

const missingPrices =
  ({ sources }: PlanAsked) =>
  (error: unknown): undefined => {
    sources.signal.throwIfAborted();
    sources.missing?.(`prices: ${error instanceof Error ? error.message : String(error)}`);
  };

/** With several Accounts of its own, a namespace gets no ClusterAccount by default. */
const accountsIn = ({ objects }: Stage, namespace: string): number =>
  [...objects.store(account.kind).values()].filter(({ metadata }) => metadata.namespace === namespace).length;

async function candidatesOf(asked: PlanAsked, { objects: live, hidden }: Live): Promise<Candidate[]> {
  const { manifests, cluster, schemaOf, sources, destroy, prune } = asked;
  if (destroy) {
    return manifests.objects.flatMap(({ kind, object, problem }): Candidate[] => {
      if (problem !== undefined) return [{ kind, live: undefined, desired: object, refused: problem }];
      const found = live.get(keyTo(kind, object));
      if (hidden.has(keyTo(kind, object))) return [{ kind, live: undefined, desired: object, isHidden: true }];
      return found ? [{ kind, live: found, desired: undefined }] : [];
    });
  }
  const whyOffline = new Set<string>();
  const candidateOf = async (manifest: Manifest): Promise<Candidate> => {
    const { kind, object } = manifest;
    if (hidden.has(keyTo(kind, object))) return { kind, live: undefined, desired: object, isHidden: true };
    const given = { manifest, live: live.get(keyTo(kind, object)), schema: schemaOf(kind), signal: sources.signal };
    if (!cluster?.client) return offline(given);
    const { whyOffline: why, ...candidate } = await dryRun(cluster.client, given);
    if (why !== undefined) whyOffline.add(why);
    return candidate;
  };
  const all: Candidate[] = [];
  for (let nth = 0; nth < manifests.objects.length; nth += AT_ONCE) {
    all.push(...(await Promise.all(manifests.objects.slice(nth, nth + AT_ONCE).map(candidateOf))));
    sources.progress(all.length, "objects validated");
  }
  for (const why of whyOffline) sources.missing?.(`some objects were checked by the schemas of the CRDs only: ${why}`);
  return prune === undefined ? all : [...all, ...(await pruned(asked, all, prune))];
}

/** Live objects with these labels that no file has. */
async function pruned(asked: PlanAsked, all: readonly Candidate[], labelSelector: string): Promise<Candidate[]> {
  const { cluster, sources } = asked;
  if (!cluster) throw new Error("prune needs a cluster, to find objects that no file has");
  const kept = new Set(all.map(({ kind, desired, live }) => keyTo(kind, desired ?? live ?? nothing)));
  const from = { ...sources, cluster: async () => cluster.reader, platform: asked.platform, now: systemClock.now };
  const inNoFile: Candidate[] = [];
  for (const namespace of namespacesOf(asked.manifests)) {
    for (const [key, { kind, object }] of await allObjects(from, namespace, kinds, labelSelector)) {
      if (!kept.has(key)) inNoFile.push({ kind, live: object, desired: undefined });
    }
  }
  return inNoFile;
}
const nothing: KubeObject = { apiVersion: "", kind: "", metadata: { name: "" } };

/** ClusterAccounts and Grants select namespaces by labels. */
async function namespaceLabels({ cluster, sources, manifests }: PlanAsked) {
  const labels = new Map<string, Record<string, string>>();
  if (!cluster) return labels;
  for (const name of namespacesOf(manifests)) {
    const found = await cluster.reader.find(NAMESPACES, undefined, name, sources.signal).catch(() => undefined);
    labels.set(name, { "kubernetes.io/metadata.name": name, ...found?.metadata.labels });
  }
  return labels;
}

/** Without a cluster, the environment is the Account of every namespace whose files have none. */
function addAccounts(stage: Stage, candidates: readonly Candidate[]): void {
  const namespaces = new Set(candidates.map(({ desired }) => desired?.metadata.namespace ?? ""));
  const withAccount = new Set(
    candidates.flatMap(({ kind, desired }) => (kind.kind === "Account" ? (desired?.metadata.namespace ?? []) : [])),
  );
  for (const namespace of namespaces) {
    if (namespace === "" || withAccount.has(namespace)) continue;
    const metadata = { name: "environment", namespace };
    stage.put({ apiVersion: `${GROUP}/${VERSION}`, kind: "Account", metadata, spec: {} });
  }
}

/**
 * Opens every Account in use that exists, or that the caller may not see. The platform is read through the first one that
 * works.
 */
async function openAccounts(
  { platform, cluster, sources }: PlanAsked,
  stage: Stage,
  candidates: readonly Candidate[],
  seesAllAccounts: boolean,
): Promise<PlatformReader | undefined> {
  const used = new Set<string>();
  for (const { kind, desired, live } of candidates) {
    const object = desired ?? live;
    const key = object && hasResource(kind) ? stage.accountOf(kind, object) : undefined;
    if (key !== undefined) used.add(key);
  }
  const opened = await Promise.all(
    [...used].flatMap((key) => {
      const object = stage.objects.find(accountObject(key))?.object;
      if (!object && seesAllAccounts) return [];
      return openHandle(key, object, () => platform(cluster ? key : undefined), sources.signal);
    }),
  );
  for (const { handle } of opened) {
    stage.account(handle);
    if (handle.obstacle) sources.missing?.(`platform through ${handle.key}: ${handle.obstacle.message}`);
  }
  return opened.find(({ reader }) => reader)?.reader;
}
