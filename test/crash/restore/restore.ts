import { randomBytes } from "node:crypto";
import { resourceOf } from "../../../src/engine/state/object.ts";
import { readStatus } from "../../../src/engine/status/status.ts";
import { kinds as allKinds } from "../../../src/kinds/index.ts";
import type { Kind } from "../../../src/kinds/kind.ts";
import { type KubeObject, pathOf } from "../../../src/kube/resource.ts";
import { SIGNING_KEY } from "../../../src/operator/signing-key.ts";
import type { OperatorProcess } from "../../cluster/chaos/operator.ts";
import { type Stage, unsettled } from "../../cluster/chaos/stage.ts";
import { until } from "../../cluster/chaos/wait.ts";
import type { Found } from "../../cluster/steering.ts";
import { CREDENTIALS } from "../../subjects/surroundings.ts";
import { allObjects, type Moment, moments, openWorld, restoredKinds, type World } from "./restore-world.ts";

export { restoredKinds };

/** A backup and how it is restored. */
export interface Case {
  backup: Moment;
  /** The same cluster, whose etcd is restored while the operator is stopped or running; or a new cluster. */
  into: "stopped" | "running" | "new cluster";
  /** For a new cluster: whether status is restored, and whether the signing key is. */
  status?: boolean;
  key?: boolean;
}

export interface Outcome extends Case {
  /** Problems; empty if there are none. */
  problems: string[];
  /** Creations on the platform. */
  posts: number;
  /** Number of objects by reason. */
  reasons: Record<string, number>;
}

export const titleOf = ({ backup, into, status, key }: Case): string =>
  into === "new cluster"
    ? `${backup}, new cluster, ${status ? "with" : "without"} status, ${key ? "with" : "without"} the key`
    : `${backup}, same cluster, operator ${into}`;

export const summaryOf = (outcome: Outcome): string =>
  `${titleOf(outcome)}: ${outcome.posts} creations, ${JSON.stringify(outcome.reasons)}`;

const inSameCluster = (["stopped", "running"] as const).flatMap((into) => moments.map((backup) => ({ backup, into })));
const inNewCluster = moments.slice(0, 3).flatMap((backup) =>
  [true, false].flatMap((key) =>
    // Before the intent, nothing is signed and there is no status.
    (backup === "before the intent" ? [false] : [true, false]).map((status) => ({
      backup,
      into: "new cluster" as const,
      status,
      key,
    })),
  ),
);
export const cases: readonly Case[] = [...inSameCluster, ...inNewCluster];

/** The message says what to do. */
const WAY_OUT = /kubectl|externalId|mooring\.dev\/recreate|mooring-signing-key/;
const RECONCILES = "controller_runtime_reconcile_total";

/** Restores a backup in each of these cases, one after the other, and returns the results. */
export async function restoreAll(
  kinds: readonly Kind[],
  played: readonly Case[],
  onOutcome: (outcome: Outcome) => void = () => {},
): Promise<Outcome[]> {
  await using cleanup = new AsyncDisposableStack();
  const world = await openWorld(cleanup, kinds, new Set(played.map(({ backup }) => backup)));
  const outcomes: Outcome[] = [];
  for (const each of played) {
    const outcome = await play(world, each);
    onOutcome(outcome);
    outcomes.push(outcome);
  }
  return outcomes;
}

async function play(world: World, played: Case): Promise<Outcome> {
  const { control, platform, stage, operator, now, nothing, saved } = world;
  let running: OperatorProcess | undefined;
  if (played.into === "running") {
    await control.rewind(now);
    running = await operator();
    await running.untilLeading();
    await untilRead(running, 40);
  }
  const before = await platform.steering.made();
  await platform.steering.resetCalls();
  if (played.into === "new cluster") {
    await control.rewind(nothing);
    await recreate(world, played);
  } else await control.rewind(saved(played.backup).etcd);
  const asked = new Set(
    (await allObjects(stage)).flatMap(({ metadata }) => (metadata.deletionTimestamp ? [metadata.name] : [])),
  );
  running ??= await operator();
  await running.untilLeading();
  await untilRead(running, 20);
  const problems: string[] = [];
  await until(() => unsettledIn(stage), { title: titleOf(played), forMs: 300_000 }).catch((error: unknown) => {
    problems.push(`stuck: ${error instanceof Error ? error.message : error}`);
  });
  await untilRead(running, 60);
  const { byRoute } = await platform.steering.calls();
  const posts = Object.entries(byRoute).filter(([route]) => /^POST |\/generate$/.test(route));
  problems.push(...faultsOf(before, await platform.steering.made(), asked));
  const reasons = (await allObjects(stage)).map((object) => readyOf(object)?.reason ?? "none");
  await running.kill();
  return {
    ...played,
    problems,
    posts: posts.reduce((sum, [, count]) => sum + count, 0),
    reasons: Object.fromEntries(reasons.map((reason) => [reason, reasons.filter((each) => each === reason).length])),
  };
}

/** Creates the saved objects in a new cluster. */
async function recreate({ stage, key, saved, platform }: World, { backup, status, key: withKey }: Case): Promise<void> {
  const { admin, namespace } = stage;
  const other = { data: { current: Buffer.from(randomBytes(32)).toString("base64") } };
  const secret = withKey ? { data: Object(key.data) } : other;
  await stage.apply({ apiVersion: "v1", kind: "Secret", metadata: { name: SIGNING_KEY }, ...secret });
  await stage.apply({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: CREDENTIALS },
    stringData: { token: platform.token },
  });
  for (const object of saved(backup).objects) {
    const kind = allKinds.find((each) => each.kind === object.kind);
    if (!kind) continue;
    const resource = resourceOf(kind);
    const { uid: _, resourceVersion: __, creationTimestamp: ___, ...metadata } = object.metadata;
    const body = { ...object, apiVersion: `${resource.group}/${resource.version}`, metadata };
    const path = pathOf(resource, { namespace });
    const { metadata: created } = await admin.request<KubeObject>({ method: "POST", path, body });
    if (!status || object.status === undefined) continue;
    const restored = { ...body, metadata: { ...metadata, resourceVersion: created.resourceVersion } };
    await admin.request({ method: "PUT", path: `${path}/${metadata.name}/status`, body: restored });
  }
}

const readyOf = (object: KubeObject) => readStatus(object).conditions?.find(({ type }) => type === "Ready");

/** The first object that is not Ready, not deleted as asked, and has no message that says what to do. */
async function unsettledIn(stage: Stage): Promise<string | undefined> {
  for (const object of await allObjects(stage)) {
    const obstacle = unsettled(object);
    const stalled = readStatus(object).conditions?.find(({ type }) => type === "Stalled");
    const hasWayOut = stalled?.status === "True" && WAY_OUT.test(stalled.message);
    // An object that waits for such an object need not repeat its message.
    const waits = ["ReferenceNotReady", "ReferenceNotFound", "InUse"].includes(readyOf(object)?.reason ?? "");
    if (obstacle !== undefined && !hasWayOut && !waits) return `${object.kind} ${object.metadata.name}: ${obstacle}`;
    if (object.metadata.deletionTimestamp !== undefined && !waits) return `${object.metadata.name} is not gone`;
  }
  return undefined;
}

/** Waits until the operator has reconciled everything several more times. */
async function untilRead(operator: OperatorProcess, times: number): Promise<void> {
  const before = await operator.metric(RECONCILES);
  await until(
    async () => ((await operator.metric(RECONCILES)) > before + times ? undefined : "it has not looked at all objects"),
    { title: "the operator" },
  );
}

/** Duplicates, and resources that are gone without a request. */
function faultsOf(
  before: Record<string, Found[]>,
  after: Record<string, Found[]>,
  asked: ReadonlySet<string>,
): string[] {
  const nameOf = ({ properties }: Found) => properties?.name ?? "";
  const twice = Object.entries(after).flatMap(([collection, items]) => {
    const names = collection === "tokens" ? [] : items.map(nameOf).filter((name) => /-(kept|gone|late)$/.test(name));
    const doubled = new Set(names.filter((name, nth) => names.indexOf(name) !== nth));
    return [...doubled].map((name) => `twice: ${collection} ${name}`);
  });
  const taken = Object.entries(before).flatMap(([collection, items]) => {
    const left = new Set(after[collection]?.map(({ id }) => id));
    // A token whose Secret was restored is replaced and revoked later, as at every rotation.
    const missing = items.filter((item) => !left.has(item.id) && !asked.has(nameOf(item)) && collection !== "tokens");
    return missing.map((item) => `deleted: ${collection} ${nameOf(item)} ${item.id}`);
  });
  return [...twice, ...taken];
}
