import { z } from "zod";
import { replaced, type Subject } from "../../subject.ts";
import { elsewhere, home, inDatacenter, moved } from "../../surroundings.ts";
import { accepted, acceptedChanges } from "./scaling-group/accepted.ts";
import { base, policy, replica, root, spec } from "./scaling-group/base.ts";
import { fixed, refused } from "./scaling-group/refused.ts";

const shown = z.looseObject({
  replicaConfiguration: z.looseObject({ nics: z.array(z.unknown()), volumes: z.array(z.unknown()) }),
});

const { nics: _, volumes: __, ...size } = replica;

export const subject: Subject = {
  ...base,
  wire: {
    collection: "groups",
    path: () => "/autoscaling/v1.ea/groups",
    body: (name, ground) => ({
      properties: {
        name,
        datacenter: { id: ground.datacenter },
        minReplicaCount: 1,
        maxReplicaCount: 2,
        policy: {
          ...policy,
          scaleInAction: { amount: 1, amountType: "ABSOLUTE", deleteVolumes: true },
          scaleOutAction: { amount: 1, amountType: "ABSOLUTE" },
        },
        replicaConfiguration: {
          ...replica,
          volumes: replica.volumes.map((each) => ({ ...each, type: "SSD_STANDARD" })),
        },
      },
    }),
  },
  place: () => inDatacenter,
  change: () => ({ spec: { maxReplicas: 3 }, shows: { maxReplicaCount: 3 } }),
  move: moved,
  lists: {
    "replica.nics": {
      spec: { replica: { ...replica, nics: [] } },
      silent: { replica: { ...size, volumes: replica.volumes } },
      members: async ({ properties }) => shown.parse(properties).replicaConfiguration.nics,
    },
    "replica.volumes": {
      spec: { replica: { ...replica, nics: [], volumes: [] } },
      silent: { replica: { ...size, nics: [] } },
      members: async ({ properties }) => shown.parse(properties).replicaConfiguration.volumes,
    },
  },
  needs: () => [home, elsewhere],
  life: () => {
    const volumes = [{ ...root, imageLookup: { name: "debian" } }];
    const reshaped = { ...spec, replica: { ...replica, cores: 2, volumes } };
    const grown = { ...reshaped, minReplicas: 2, maxReplicas: 3 };
    return {
      changes: [
        { title: "update", spec: reshaped },
        { title: "grow", spec: grown, shows: { minReplicaCount: 2, maxReplicaCount: 3 } },
        replaced(grown, { ...moved, shows: { maxReplicaCount: 3 } }),
      ],
    };
  },
  manifests: {
    accepted,
    refused,
    changes: { accepted: acceptedChanges, fixed },
  },
};
