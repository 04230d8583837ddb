import { isDeepStrictEqual } from "node:util";
import type { Method } from "../http/exchange.ts";
import { errorCode, refusal } from "../http/refusal.ts";
import type { World } from "../world.ts";
import type { Given } from "./body.ts";
import { keptKey, newKey } from "./keys.ts";
import type { Pipeline } from "./records.ts";
import { type RegionalCall, services } from "./service.ts";

/** Simulated milliseconds. */
const spans = {
  create: [3_000, 6_000],
  update: [1_000, 3_000],
  delete: [1_000, 3_000],
} as const;

function drawn({ chance }: World, what: keyof typeof spans): number {
  const [low, high] = spans[what];
  return Math.round(chance.between(`pipeline/${what}`, low, high));
}

/**
 * Makes a pipeline, PROVISIONING. It takes data once it is ready, with the key, which nobody is told again.
 */
export function createPipeline(
  world: World,
  call: RegionalCall,
  given: Given,
  id = world.chance.uuid("pipeline"),
): { pipeline: Pipeline; key: string } {
  const { product, region, at } = call;
  const userId = call.caller.user.id;
  const key = newKey();
  const pipeline = start(world, call, "create", {
    ...given,
    id,
    product,
    region,
    state: "PROVISIONING",
    wasReady: false,
    failure: null,
    dueAt: at,
    ...keptKey(world, product, key),
    keyVersion: 1,
    createdAt: at,
    createdBy: userId,
    modifiedAt: at,
    modifiedBy: userId,
    visibleAt: at + call.effects.invisibleFor,
  });
  return { pipeline, key };
}

/** Changes a pipeline that is at rest; it is PROVISIONING again for a moment and goes on taking data. */
export function updatePipeline(world: World, call: RegionalCall, pipeline: Pipeline, given: Given): Pipeline {
  refuseLeaving(pipeline);
  const { name, logs, resourceTier, state } = pipeline;
  // What has failed is tried again, also as it is.
  if (state !== "FAILED" && isDeepStrictEqual(given, { name, logs, resourceTier })) return pipeline;
  if (state === "PROVISIONING") throw conflict(pipeline, "is being provisioned; wait until it is AVAILABLE");
  world.lines.expire(pipeline.id);
  return start(world, call, "update", modified(call, { ...pipeline, ...given, state: "PROVISIONING" }));
}

/** From now on the pipeline takes no data; it can be seen until it has gone, unless a fault hides it. */
export function deletePipeline(world: World, call: RegionalCall, pipeline: Pipeline): Pipeline {
  refuseLeaving(pipeline);
  const hidden = call.effects.hideWhileDeleting;
  return start(world, call, "delete", modified(call, { ...pipeline, state: "DESTROYING", hidden }));
}

/** Replaces the key and gives the new one, in whatever state: a key may be lost before the pipeline is AVAILABLE. */
export function rotateKey(world: World, call: RegionalCall, pipeline: Pipeline): string {
  refuseLeaving(pipeline);
  const key = newKey();
  const next = modified(call, {
    ...pipeline,
    ...keptKey(world, pipeline.product, key),
    keyVersion: pipeline.keyVersion + 1,
  });
  world.pipelines.pipelines.put(next.id, next);
  return key;
}

/** Puts what an earlier run had begun back on the agenda. */
export function resumePipelines(world: World): void {
  for (const pipeline of world.pipelines.pipelines.values()) if (isMoving(pipeline)) putOnAgenda(world, pipeline);
}

const isMoving = ({ state }: Pipeline) => state === "PROVISIONING" || state === "DESTROYING";

const modified = ({ at, caller }: RegionalCall, pipeline: Pipeline): Pipeline => ({
  ...pipeline,
  modifiedAt: at,
  modifiedBy: caller.user.id,
});

function start(world: World, { at, effects }: RegionalCall, what: keyof typeof spans, pipeline: Pipeline): Pipeline {
  const dueAt = at + Math.round(drawn(world, what) * effects.slowdown);
  const started = { ...pipeline, failure: effects.failWith, dueAt };
  world.pipelines.pipelines.put(started.id, started);
  putOnAgenda(world, started);
  return started;
}

function putOnAgenda(world: World, { id, dueAt }: Pipeline): void {
  world.agenda.schedule(dueAt, () => world.documents.transaction(() => end(world, id, dueAt)));
}

/** A later write has set another end: then this one is of no account any more. */
function end(world: World, id: string, dueAt: number): void {
  const { pipelines } = world.pipelines;
  const pipeline = pipelines.get(id);
  if (pipeline === undefined || pipeline.dueAt !== dueAt || !isMoving(pipeline)) return;
  const { product, region, failure, modifiedBy: by } = pipeline;
  const collection = `/${services[product].path}/${region}/pipelines`;
  world.activity.settled({ method: methodOf(pipeline), collection, type: "pipeline", id, by, failure });
  if (pipeline.failure !== null) {
    pipelines.put(id, { ...pipeline, state: "FAILED", hidden: false });
  } else if (pipeline.state === "PROVISIONING") {
    pipelines.put(id, { ...pipeline, state: "AVAILABLE", wasReady: true });
  } else {
    pipelines.delete(id);
    world.samples.forget(id);
    world.lines.forget(id);
  }
}

/** The call that has begun what a pipeline is going through. */
function methodOf({ product, state, createdAt, modifiedAt }: Pipeline): Method {
  if (state === "DESTROYING") return "DELETE";
  if (createdAt === modifiedAt) return "POST";
  return product === "logs" ? "PATCH" : "PUT";
}

function refuseLeaving(pipeline: Pipeline): void {
  if (pipeline.state === "DESTROYING") throw conflict(pipeline, "is being deleted");
}

const conflict = ({ id }: Pipeline, why: string) => refusal(409, errorCode.refused, `The pipeline ${id} ${why}`);
