import { ALLOW_DATA_LOSS } from "../../src/engine/objects/names.ts";
import type { Life } from "./lives.ts";
import { account, datacenter, elsewhere, type Ground } from "./manifests.ts";

export function scalingGroup(ground: Ground): Life {
  const spec = {
    datacenterRef: { name: "home" },
    minReplicas: 1,
    maxReplicas: 2,
    policy: {
      metric: "INSTANCE_CPU_UTILIZATION_AVERAGE",
      unit: "PERCENTAGE",
      scaleInThreshold: 30,
      scaleOutThreshold: 75,
      scaleInAction: { amount: 1, deleteVolumes: true },
      scaleOutAction: { amount: 1 },
    },
    replica: {
      cores: 1,
      ram: 1024,
      nics: [{ name: "public", lan: 1 }],
      volumes: [{ name: "root", size: 10, type: "SSD Standard", imageAlias: "ubuntu:latest" }],
    },
  };
  const reshaped = { ...spec, replica: { ...spec.replica, cores: 2 } };
  const grown = { ...reshaped, minReplicas: 2, maxReplicas: 3 };
  return {
    prerequisites: [account(ground), datacenter, elsewhere],
    annotations: { [ALLOW_DATA_LOSS]: "true" },
    spec,
    changes: [
      { title: "update", spec: reshaped },
      { title: "grow", spec: grown, shows: { minReplicaCount: 2, maxReplicaCount: 3 } },
      {
        title: "replace",
        spec: { ...grown, datacenterRef: { name: "away" }, replacePolicy: "WhenNeeded" },
        shows: { maxReplicaCount: 3 },
      },
    ],
  };
}
