import { INTENT, PAUSED } from "../../../src/engine/state/names.ts";
import { kinds as allKinds } from "../../../src/kinds/index.ts";
import type { Kind } from "../../../src/kinds/kind.ts";
import { type KubeObject, pathOf, SECRETS } from "../../../src/kube/resource.ts";
import { SIGNING_KEY } from "../../../src/operator/signing-key.ts";
import type { OperatorProcess } from "../../cluster/chaos/operator.ts";
import { type OwnPlatform, startPlatform } from "../../cluster/chaos/platform.ts";
import { openStage, type Stage } from "../../cluster/chaos/stage.ts";
import { until } from "../../cluster/chaos/wait.ts";
import { subjects } from "../../subjects/index.ts";
import { account, CREDENTIALS, home, type Manifest, manifest } from "../../subjects/surroundings.ts";
import { type Backup, type Rewindable, startRewindable } from "./rewindable.ts";

/** The moment of a backup in the life of the restored objects. */
export const moments = ["before the intent", "after the intent", "after the claim", "before the deletion"] as const;
export type Moment = (typeof moments)[number];

/** Kinds whose resources can be created and deleted. */
export const restoredKinds: readonly Kind[] = allKinds.filter(
  ({ resource }) => resource && !resource.identity.permanent && !resource.identity.shared,
);

/** Created before the backup and kept; created before it and deleted afterwards; created afterwards. */
type Role = "kept" | "gone" | "late";

// Without a Lease: a restored Lease would have another holder, and the process would exit.
const FLAGS = [
  "--no-leader-election",
  ...["--annotate-after", "1s", "--recheck", "2s", "--resync", "2s", "--missing-after", "20s"],
];
/** Number of concurrent creations that hang. */
const AT_ONCE = 6;

/** All restored objects and their prerequisites. */
function castOf(kinds: readonly Kind[]) {
  const chosen = subjects.filter(({ kind }) => kinds.some((each) => each.kind === kind));
  const named = (kind: string, role: Role) => `${kind.toLowerCase()}-${role}`;
  const flowLogged = manifest("Server", "host", {
    datacenterRef: { name: "dc" },
    cores: 1,
    ram: 1024,
    bootVolume: { size: 10, type: "SSD Standard", imageAlias: "ubuntu:latest" },
    nics: (["kept", "gone", "late"] as const).map((role) => ({ name: named("FlowLog", role), lan: 1 })),
  });
  const needs = chosen.flatMap(({ kind, needs }) => [
    home,
    ...(needs?.({ api: "", nth: 0 }) ?? []),
    ...(kind === "FlowLog" ? [flowLogged] : []),
  ]);
  const prerequisites = [...new Map(needs.map((each) => [`${each.kind}/${each.metadata.name}`, each])).values()];
  const of = (role: Role): Manifest[] =>
    chosen.map(({ kind, spec, own, prefix = kind.toLowerCase() }) => {
      const name = `${prefix}-${role}`;
      return manifest(kind, name, { ...spec, ...own?.(name), recreatePolicy: "WhenDeleted" });
    });
  return { prerequisites, of };
}

/** Everything that takes part, and the path through the moments of the backups. */
export async function openWorld(cleanup: AsyncDisposableStack, kinds: readonly Kind[], needed: ReadonlySet<Moment>) {
  const control = cleanup.use(await startRewindable());
  const platform = cleanup.use(await startPlatform());
  const stage = cleanup.use(await openStage(control.kubeconfig));
  const cast = castOf(kinds);
  const operator = (...flags: string[]) => stage.operator({ flags: [...FLAGS, ...flags], pod: "mooring-0" });
  const nothing = await control.backup();
  await stage.apply({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: CREDENTIALS },
    stringData: { token: platform.token },
  });
  await stage.apply(account({ api: platform.url, nth: 0 }));
  const world = { control, platform, stage, cast, operator, nothing };
  return { ...world, ...(await liveThrough(world, needed)) };
}

interface Saved {
  etcd: Backup;
  objects: KubeObject[];
}

interface Living {
  control: Rewindable;
  platform: OwnPlatform;
  stage: Stage;
  cast: ReturnType<typeof castOf>;
  operator: (...flags: string[]) => Promise<OperatorProcess>;
}

async function liveThrough({ control, platform, stage, cast, operator }: Living, needed: ReadonlySet<Moment>) {
  const [kept, gone, late] = [cast.of("kept"), cast.of("gone"), cast.of("late")];
  const untilReady = async (objects: readonly Manifest[]) => {
    for (const { kind, metadata } of objects) await stage.untilReady(kind, metadata.name);
  };
  const backups = new Map<Moment, Saved>();
  const save = async (moment: Moment) => {
    const isNeeded = needed.has(moment);
    if (isNeeded) backups.set(moment, { objects: await allObjects(stage), etcd: await control.backup() });
  };
  let running = await operator();
  await stage.apply(...cast.prerequisites);
  await untilReady(cast.prerequisites);
  await running.stop();

  await stage.apply(...kept, ...gone);
  await save("before the intent");

  await platform.steering.faults(
    { route: "POST *", fault: "hang", executed: true },
    { route: "GET /auth/v1/tokens/generate", fault: "hang", executed: true },
  );
  const pause = async (objects: readonly Manifest[], paused: "true" | null) => {
    const change = { metadata: { annotations: { [PAUSED]: paused } } };
    for (const { kind, metadata } of objects) await stage.patch(kind, metadata.name, change);
  };
  const both = [...kept, ...gone];
  await pause(both, "true");
  // A few at a time, because more hanging calls would delay the rest. No search begins before the operator is killed.
  for (let first = 0; first < both.length; first += AT_ONCE) {
    const few = both.slice(first, first + AT_ONCE);
    await pause(few, null);
    await platform.steering.resetCalls();
    running = await operator("--create-deadline", "20s", "--annotate-after", "1h");
    await until(() => untilSent(stage, platform, few), { title: "the creations" });
    await running.kill();
    await pause(few, "true");
  }
  await pause(both, null);
  await save("after the intent");

  await platform.steering.faults();
  running = await operator();
  await untilReady([...kept, ...gone]);
  await running.stop();
  await save("after the claim");

  for (const { kind, metadata } of gone) await stage.remove(kind, metadata.name);
  await save("before the deletion");
  running = await operator();
  await stage.apply(...late);
  for (const { kind, metadata } of gone) await stage.untilGone(kind, metadata.name);
  await untilReady(late);
  await running.stop();
  const key = await stage.admin.request<KubeObject>({
    method: "GET",
    path: pathOf(SECRETS, { namespace: stage.namespace, name: SIGNING_KEY }),
  });
  const saved = (moment: Moment): Saved => {
    const found = backups.get(moment);
    if (!found) throw new Error(`there is no backup of ${moment}`);
    return found;
  };
  return { saved, key, now: await control.backup() };
}

export type World = Awaited<ReturnType<typeof openWorld>>;

/** The object whose creation has not begun yet. */
async function untilSent(stage: Stage, platform: OwnPlatform, objects: readonly Manifest[]) {
  const made = await platform.steering.made();
  const names = Object.values(made).flatMap((items) => items.map(({ properties }) => properties?.name));
  for (const { kind, metadata } of objects) {
    const found = await stage.read(kind, metadata.name);
    if (!found?.metadata.annotations?.[INTENT]) return `${kind} ${metadata.name} has no intent`;
    const isSeen = isToken(kind) || names.includes(metadata.name);
    if (!isSeen) return `${kind} ${metadata.name} is not on the platform`;
  }
  const tokens = objects.filter(({ kind }) => isToken(kind)).length;
  const { byRoute } = await platform.steering.calls();
  const generated = byRoute["GET /auth/v1/tokens/generate"] ?? 0;
  return generated < tokens ? "not all tokens were asked for" : undefined;
}

/** Tokens have no names, so tokens of one user cannot be distinguished: see docs/backup.md. */
const isToken = (kind: string): boolean =>
  allKinds.some((each) => each.kind === kind && each.resource?.place.product === "auth");

export async function allObjects(stage: Stage): Promise<KubeObject[]> {
  const lists = await Promise.all(
    allKinds.filter(({ scope }) => scope !== "Cluster").map(({ kind }) => stage.list(kind)),
  );
  return lists.flat();
}
