import { z } from "zod";
import { objectIn } from "../core/kind/body.ts";
import type { Method, Reply, Route } from "../http/exchange.ts";
import { errorCode, invalid, missing, refusal } from "../http/refusal.ts";
import { isVisible } from "../store/shown.ts";
import type { World } from "../world.ts";
import { changedLogPipeline, type Given, givenLogPipeline, givenMetricPipeline } from "./body.ts";
import { listCentrals, readCentral, switchCentral } from "./central.ts";
import { createPipeline, deletePipeline, rotateKey, updatePipeline } from "./lifecycle.ts";
import { listPipelines } from "./listing.ts";
import { type Pipeline, type Product, pipelineOf } from "./records.ts";
import { type RegionalCall, regionalRoute } from "./service.ts";
import { shownPipeline } from "./view.ts";

type Handle = (world: World, call: RegionalCall) => Reply;

/** Metric and log pipelines with their central switches, below one path per product and region. */
export function pipelineRoutes(world: World): Route[] {
  const all = "/pipelines";
  const one = "/pipelines/{pipelineId}";
  const shared: [Method, string, Handle][] = [
    ["GET", all, listPipelines],
    ["GET", one, read],
    ["DELETE", one, remove],
    ["POST", `${one}/key`, renewKey],
    ["GET", "/central", listCentrals],
    ...when(world.forms.described, ["PUT", "/central", switchCentral]),
    ...when(
      world.forms.public,
      ["GET", "/central/{centralId}", readCentral],
      ["PUT", "/central/{centralId}", switchCentral],
    ),
  ];
  const own: Record<Product, [Method, string, Handle][]> = {
    metrics: [
      ["POST", all, (_, call) => create(world, call, givenMetricPipeline(call.body))],
      ["PUT", one, ensure],
    ],
    logs: [
      ["POST", all, (_, call) => create(world, call, givenLogPipeline(call.body, world.forms))],
      ["PATCH", one, change],
    ],
  };
  return (["metrics", "logs"] as const).flatMap((product) =>
    [...shared, ...own[product]].map(([method, path, handle]) =>
      regionalRoute(world, product, [method, path, (call) => handle(world, call)]),
    ),
  );
}

const when = (served: boolean, ...routes: [Method, string, Handle][]) => (served ? routes : []);

/** The pipeline that a path names, in this region; 404 also while it cannot be seen yet. */
function found(world: World, call: RegionalCall): Pipeline {
  const pipeline = pipelineOf(world, call.product, call.params.pipelineId ?? "");
  if (pipeline === undefined || pipeline.region !== call.region || !isVisible(pipeline, call.at)) throw missing();
  return pipeline;
}

const read: Handle = (world, call) => ({ status: 200, body: shownPipeline(world, call, found(world, call)) });

function create(world: World, call: RegionalCall, given: Given, id?: string): Reply {
  const { pipeline, key } = createPipeline(world, call, given, id);
  return { status: 201, body: shownPipeline(world, call, pipeline, key) };
}

const uuid = z.guid();

/** PUT on a metric pipeline: changes it or, when there is none of that id, makes it. */
const ensure: Handle = (world, call) => {
  const { pipelineId = "" } = call.params;
  const given = givenMetricPipeline(call.body);
  const { id = pipelineId } = objectIn(call.body);
  if (id !== pipelineId) throw invalid("(root).id", "must be the id of the path, or be left out");
  const taken = world.pipelines.pipelines.get(pipelineId);
  if (taken === undefined) {
    if (!uuid.safeParse(pipelineId).success) throw invalid("pipelineId", "must be a UUID");
    return create(world, call, given, pipelineId);
  }
  if (taken.product !== call.product || taken.region !== call.region) {
    throw refusal(409, errorCode.refused, `The id ${pipelineId} is taken by a pipeline elsewhere`);
  }
  return { status: 200, body: shownPipeline(world, call, updatePipeline(world, call, found(world, call), given)) };
};

const change: Handle = (world, call) => {
  const pipeline = found(world, call);
  const updated = updatePipeline(world, call, pipeline, changedLogPipeline(call.body, pipeline, world.forms));
  return { status: 200, body: shownPipeline(world, call, updated) };
};

/** Older clients of log pipelines expect the pipeline in the answer. */
const remove: Handle = (world, call) => {
  const leaving = deletePipeline(world, call, found(world, call));
  return { status: 202, ...(call.product === "logs" && { body: shownPipeline(world, call, leaving) }) };
};

const renewKey: Handle = (world, call) => ({
  status: 201,
  body: { key: rotateKey(world, call, found(world, call)) },
});
