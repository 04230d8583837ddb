import { z } from "zod";
import { scalingGroup } from "../../../../src/kinds/compute/scaling-group/scaling-group.ts";
import type { Parts } from "../../../simulator/scaling.ts";
import { inputs, mapped, sent } from "../../mapped.ts";

/** The spec of a group: 2 to 5 replicas, between 20 and 80 percent of CPU. */
export const group = (change: object = {}, replica: object = {}, policy: object = {}) => ({
  datacenterRef: { name: "berlin" },
  minReplicas: 2,
  maxReplicas: 5,
  policy: {
    metric: "INSTANCE_CPU_UTILIZATION_AVERAGE",
    unit: "PERCENTAGE",
    range: "5m",
    scaleInThreshold: 20,
    scaleOutThreshold: 80,
    scaleInAction: { amount: 1, deleteVolumes: true },
    scaleOutAction: { amount: 50, amountType: "PERCENTAGE", cooldownPeriod: "10m" },
    ...policy,
  },
  replica: {
    cores: 2,
    ram: 2048,
    nics: [{ name: "private", lan: 2 }],
    volumes: [{ name: "root", size: 10, type: "SSD Premium", imageAlias: "ubuntu:latest" }],
    ...replica,
  },
  ...change,
});

/** The parts that the platform shows differently from the body. */
export interface Shown extends Parts {
  properties?: object;
  servers?: number;
}

const json = z.record(z.string(), z.unknown());
const body = z.object({
  properties: json.and(
    z.object({
      policy: json.and(z.object({ scaleInAction: json, scaleOutAction: json })),
      replicaConfiguration: json.and(z.object({ nics: z.array(json), volumes: z.array(json) })),
    }),
  ),
});

/** A group made from `spec` as a deep list shows it; a part of a list is changed in every member. */
export function groupItem(spec: object, shown: Shown = {}) {
  const { properties } = body.parse(sent(mapped(scalingGroup).desire(spec).body(inputs())));
  const { policy, replicaConfiguration: replica } = properties;
  return {
    id: "group-1",
    metadata: { state: "AVAILABLE" },
    properties: {
      ...properties,
      policy: {
        ...policy,
        scaleInAction: { ...policy.scaleInAction, ...shown.scaleIn },
        scaleOutAction: { ...policy.scaleOutAction, ...shown.scaleOut },
        ...shown.policy,
      },
      replicaConfiguration: {
        ...replica,
        nics: replica.nics.map((nic) => ({ ...nic, ...shown.nic })),
        volumes: replica.volumes.map((volume) => ({ ...volume, ...shown.volume })),
        ...shown.replica,
      },
      ...shown.properties,
    },
    entities: { servers: { items: Array.from({ length: shown.servers ?? 0 }, (_, id) => ({ id: `replica-${id}` })) } },
  };
}
