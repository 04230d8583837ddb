import { z } from "zod";
import { sourceOf } from "../core/compute/volume.ts";
import { asObject, checked, objectIn } from "../core/kind/body.ts";
import { bucketFault } from "../core/network/flow-log.ts";
import type { Call } from "../http/exchange.ts";
import { type GroupProperties, propertiesSchema } from "../records/scaling/properties.ts";
import type { Properties } from "../store/resource.ts";
import { isVisible } from "../store/shown.ts";
import type { World } from "../world.ts";

const mostReplicas = { create: 100, put: 200 } as const;

const named = z.object({ datacenter: z.object({ id: z.string() }) });

/** The properties of a group that a call sends; refuses with all that is wrong with them. */
export function givenProperties(world: World, call: Call, write: keyof typeof mostReplicas): GroupProperties {
  const where = "(root).properties";
  const properties = asObject(objectIn(call.body).properties ?? {}, where);
  const known = world.resources.get(`datacenters/${named.safeParse(properties).data?.datacenter.id}`);
  const datacenter = known !== undefined && isVisible(known, call.at) ? known : undefined;
  const source = (volume: Properties) => sourceOf({ world, given: volume, parent: datacenter ?? null });
  const schema = propertiesSchema({
    mostReplicas: mostReplicas[write],
    hasDatacenter: () => datacenter !== undefined,
    hasTargetGroup: (id) => world.resources.byId("target-group", id) !== undefined,
    // Without a datacenter this cannot be checked; the missing datacenter has its own fault.
    hasSource: (volume) => datacenter === undefined || source(volume) !== undefined,
    hasCloudInit: (volume) => datacenter === undefined || source(volume)?.properties.cloudInit === "V1",
    bucketFault: (bucket) => bucketFault(world, bucket),
  });
  return checked(schema, properties, where);
}
