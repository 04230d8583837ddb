import { z } from "zod";
import { checked, objectIn } from "../core/kind/body.ts";
import type { Call, Route } from "../http/exchange.ts";
import { invalid } from "../http/refusal.ts";
import { loadKey, shapeSchema } from "../records/scaling/load-record.ts";
import { metrics } from "../records/scaling/properties.ts";
import { timestamp } from "../time.ts";
import type { World } from "../world.ts";
import { metricOf, policyMetric } from "./load.ts";

const bodySchema = z.object({
  /** Id or name; absent: all groups, also those that come later. */
  group: z.string().optional(),
  metric: z.enum(metrics).default("INSTANCE_CPU_UTILIZATION_AVERAGE"),
  shape: shapeSchema,
  shared: z.boolean().default(false),
});

/** Control endpoints for the load that scaling policies react to: set, show, remove. */
export function loadRoutes(world: World): Route[] {
  const route = (method: "GET" | "PUT" | "DELETE", change: (call: Call) => void): Route => ({
    method,
    template: "/_simulator/load",
    access: "steering",
    handle(call) {
      change(call);
      return { status: 200, body: report(world, call.at), indent: true };
    },
  });
  return [
    route("GET", () => {}),
    route("PUT", (call) => setLoad(world, call)),
    route("DELETE", () => {
      for (const load of [...world.scaling.loads.values()]) world.scaling.loads.delete(loadKey(load));
    }),
  ];
}

function setLoad(world: World, call: Call): void {
  const { groups, loads } = world.scaling;
  const { group, ...load } = checked(bodySchema, objectIn(call.body), "(root)");
  const put = (groupId: string | null) =>
    loads.put(loadKey({ ...load, groupId }), { ...load, groupId, since: call.at });
  if (group === undefined) {
    // A load on all groups replaces the loads of single groups.
    for (const each of [...loads.values()]) if (each.metric === load.metric) loads.delete(loadKey(each));
    put(null);
    return;
  }
  const selected = [...groups.values()].filter(({ id, properties }) => id === group || properties.name === group);
  if (selected.length === 0) throw invalid("(root).group", `no group has the id or the name "${group}"`);
  for (const { id } of selected) put(id);
}

function report(world: World, at: number) {
  const { groups, loads, replicasOf } = world.scaling;
  return {
    loads: [...loads.values()].map(({ since, groupId, ...load }) => ({
      ...(groupId !== null && { group: groupId }),
      ...load,
      since: timestamp(since),
    })),
    groups: [...groups.values()].map((group) => ({
      id: group.id,
      name: group.properties.name,
      metric: group.properties.policy.metric,
      value: metricOf(world, group, at, 0),
      average: policyMetric(world, group, at),
      replicas: replicasOf(group.id).length,
    })),
  };
}
