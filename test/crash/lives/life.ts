import { setTimeout as delay } from "node:timers/promises";
import { INTENT } from "../../../src/engine/state/names.ts";
import { openIntent } from "../../../src/engine/state/object.ts";
import { readFacts, readStatus } from "../../../src/engine/status/status.ts";
import type { Kind } from "../../../src/kinds/kind.ts";
import type { KubeObject } from "../../../src/kube/resource.ts";
import { isWrite, LABEL, labelRoute, type Target } from "../calls.ts";
import { CLUSTER_NAME } from "../operator.ts";
import { hideNewResources, type Snapshot } from "../platform.ts";
import type { Stage } from "../stage.ts";
import type { Change, Subject } from "./lives.ts";
import { manifest, nameFor } from "./manifests.ts";
import { lostSecrets } from "./secrets.ts";

/** A phase that has come to rest. */
export interface Chapter {
  phase: string;
  /** Properties that the resource must have now. */
  shows: Record<string, unknown>;
  /** The object; undefined at the end of the life. */
  object: KubeObject | undefined;
  snapshot: Snapshot;
  /** Problems with the Secrets of the object. */
  lost: string[];
}

/** The state of both sides at rest. */
type Rest = Pick<Chapter, "object" | "snapshot">;

/** A life that did not reach its next milestone. The message says what was missing. */
export class Stuck extends Error {}

/** On a busy machine a call takes seconds. */
const PATIENCE_MS = 180_000;
/** Without a write for this long, the operator is at rest. */
const QUIET_MS = 300;
/** The time that a new process has to find something to do. */
const FRESH_QUIET_MS = 800;
/** How long a phase at rest waits for a fatal call. */
const LINGER_MS = { write: 4000, read: 1000 };

/** The course of a life. */
export interface Course {
  /** The fatal calls, so that the script knows what to wait for. */
  targets: readonly Target[];
  /** The object is deleted as soon as the operator has died in its creation. */
  impatient: boolean;
}

/**
 * Plays one life: prerequisites, create, every change, delete, with a check of both sides at each rest. The script does
 * not kill the operator, and only waits for its milestones. Rejects with `Stuck` if one of them does not come. The
 * operator keeps running at the end.
 */
export async function* play(
  stage: Stage,
  { kind, life }: Subject,
  { targets, impatient }: Course,
): AsyncGenerator<Chapter> {
  const { recorder, operator, platform } = stage;
  const { prerequisites, annotations = {}, spec, changes, ...promised } = life(stage.ground);
  const name = nameFor(kind, stage.namespace);
  await prepare(stage, prerequisites);
  yield { phase: "setup", shows: {}, object: undefined, snapshot: await platform.snapshot(), lost: [] };
  await hideNewResources(platform);

  const phases: Change[] = [{ title: "create", spec }, ...changes];
  let key: unknown;
  for (const { title, spec, shows = {}, ...change } of phases) {
    recorder.enter(title);
    const { afterSeconds: seconds } = change;
    if (seconds !== undefined) await platform.steering.call("POST", "/_simulator/advance", { seconds });
    await stage.apply(manifest(kind.kind, name, spec, { ...annotations, ...change.annotations }));
    stage.begin();
    if (impatient) {
      await until(async () => (operator.process > 1 ? undefined : "the operator has not been killed"), title);
      break;
    }
    const missing = (object: KubeObject | undefined) =>
      settled(object) ??
      unsaid(object, change.says) ??
      (change.renewsKey && keyOf(object) === key ? "the key is the one before" : undefined);
    const found = await rest(stage, kind, title, missing, targets);
    const lost = await lostSecrets(found.object ? (promised.secrets?.(found.object) ?? []) : [], stage.secret);
    key = keyOf(found.object);
    yield { phase: title, shows, ...found, lost };
    // The label comes seconds later, so only lives that are about it wait.
    if (title === "create" && labelRoute(kind) && isAbout(LABEL, targets)) {
      recorder.enter(LABEL);
      yield { phase: LABEL, shows, ...(await rest(stage, kind, LABEL, unlabelled, targets)), lost: [] };
    }
  }
  recorder.enter("delete");
  await stage.remove(kind.kind, name);
  const { restores = {} } = promised;
  yield { phase: "delete", shows: restores, ...(await rest(stage, kind, "delete", gone, targets)), lost: [] };
}

/** Whether the operator dies in this phase, or nowhere. */
const isAbout = (phase: string, targets: readonly Target[]): boolean =>
  targets.length === 0 || targets.some(({ position }) => position.phase === phase);

/** The reason why a new resource does not have exactly the label of the cluster. */
function unlabelled(object: KubeObject | undefined, { labels }: Snapshot): string | undefined {
  const { id = "" } = object ? readStatus(object) : {};
  const found = labels.filter(({ ids }) => ids.includes(id)).map(({ value }) => value);
  const isRight = found.length === 1 && found[0] === CLUSTER_NAME;
  return settled(object) ?? (isRight ? undefined : `its labels are [${found}], not [${CLUSTER_NAME}]`);
}

async function prepare(stage: Stage, prerequisites: ReturnType<Subject["life"]>["prerequisites"]): Promise<void> {
  if (prerequisites.length === 0) return;
  await stage.assisted(async () => {
    for (const each of prerequisites) {
      await stage.apply(each);
      await until(async () => {
        const object = await stage.read(each.kind, each.metadata.name);
        return settled(object) ?? ((await stage.platform.snapshot()).idle ? undefined : "the platform is busy");
      });
    }
  });
}

/** The reason why an object is not at rest; undefined if it is. */
function settled(object: KubeObject | undefined): string | undefined {
  if (!object) return "the object does not exist";
  const { conditions = [], observedGeneration } = readStatus(object);
  const ready = conditions.find(({ type }) => type === "Ready");
  if (observedGeneration !== object.metadata.generation || ready?.status !== "True") {
    return `Ready is ${ready?.status} (${ready?.reason}: ${ready?.message})`;
  }
  if (openIntent(object)) return "its intent is open";
  return object.metadata.annotations?.[INTENT] ? "its intent has not given way to the id" : undefined;
}

/** The status fields of the kind that are not as expected yet. */
function unsaid(object: KubeObject | undefined, says: Change["says"] = {}): string | undefined {
  const said = object ? readFacts(object) : {};
  const silent = Object.keys(says).find((field) => said[field] !== says[field]);
  return silent && `status.${silent} is ${said[silent]}, not ${says[silent]}`;
}

/** Identifies the current key, certificate or token of an Account. */
function keyOf(object: KubeObject | undefined): unknown {
  if (!object) return undefined;
  const { key, certificate } = readStatus(object);
  return (key ?? certificate)?.fingerprint ?? readFacts(object).tokenId;
}

function gone(object: KubeObject | undefined): string | undefined {
  if (!object) return undefined;
  const ready = readStatus(object).conditions?.find(({ type }) => type === "Ready");
  return `the object is still there (${ready?.reason}: ${ready?.message})`;
}

/** Waits for the milestone, an idle platform, and an operator without pending writes. */
async function rest(
  stage: Stage,
  kind: Kind,
  phase: string,
  missing: (object: KubeObject | undefined, snapshot: Snapshot) => string | undefined,
  targets: readonly Target[],
): Promise<Rest> {
  const { recorder, operator, platform } = stage;
  /** The time since which each process, counted from 1, is at rest. */
  const restingSince: number[] = [];
  let found: Rest | undefined;
  await until(async () => {
    if (operator.ended !== undefined) throw new Stuck(`the operator ended by itself with code ${operator.ended}`);
    const { watching, talking } = recorder.isUp(operator.process);
    if (!watching) return "the operator has not started";
    if (recorder.quietMs() < (operator.process > 1 ? FRESH_QUIET_MS : QUIET_MS)) return "the operator is writing";
    const [object, snapshot] = await Promise.all([
      stage.read(kind.kind, nameFor(kind, stage.namespace)),
      platform.snapshot(),
    ]);
    const obstacle = missing(object, snapshot) ?? (snapshot.idle ? undefined : "the platform is busy");
    if (obstacle !== undefined) return obstacle;
    if (object && !talking) return "the operator has not looked at the platform";
    const fatal = targets[operator.process - 1]?.position;
    const unrest = stage.unrest();
    if (unrest !== undefined) return unrest;
    if (fatal?.phase === phase && recorder.reached < targets.length) {
      const now = performance.now();
      restingSince[operator.process] ??= now;
      const lingerMs = LINGER_MS[isWrite(fatal) ? "write" : "read"];
      if (now - (restingSince[operator.process] ?? now) < lingerMs) return "the fatal call has not come";
    }
    found = { object, snapshot };
    return undefined;
  }, phase);
  if (!found) throw new Stuck(`${phase}: nothing was found`);
  return found;
}

/** Repeats a check until there is no obstacle. */
async function until(obstacle: () => Promise<string | undefined>, phase = "setup"): Promise<void> {
  const endsAt = performance.now() + PATIENCE_MS;
  for (;;) {
    const found = await obstacle();
    if (found === undefined) return;
    if (performance.now() > endsAt) throw new Stuck(`${phase}: after ${PATIENCE_MS / 1000} s ${found}`);
    await delay(200);
  }
}
