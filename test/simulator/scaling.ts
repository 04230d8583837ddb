import { expect } from "vitest";
import { z } from "zod";
import { items, type Platform, resource } from "./platform.ts";

const replicaShape = z.looseObject({
  id: z.string(),
  properties: z.object({ name: z.string(), datacenterServer: z.looseObject({ id: z.string(), href: z.string() }) }),
});
const actionShape = z.looseObject({
  metadata: z.looseObject({ createdDate: z.string() }),
  properties: z.object({ actionType: z.string(), actionStatus: z.string() }),
});

export const groups = "/autoscaling/v1.ea/groups";

/** Changes to parts of the sample body. */
export interface Parts {
  policy?: object;
  scaleIn?: object;
  scaleOut?: object;
  replica?: object;
  nic?: object;
  volume?: object;
}

/** A group body as the samples of the platform show it: 2 to 5 replicas, between 20 and 80 percent of CPU. */
export const groupBody = (datacenter: string, properties: object = {}, parts: Parts = {}) => ({
  properties: {
    datacenter: { id: datacenter.split("/").at(-1) },
    name: "web",
    minReplicaCount: 2,
    maxReplicaCount: 5,
    policy: {
      metric: "INSTANCE_CPU_UTILIZATION_AVERAGE",
      range: "PT2M",
      unit: "PER_HOUR",
      scaleInThreshold: 20,
      scaleOutThreshold: 80,
      scaleInAction: {
        amount: 1,
        amountType: "ABSOLUTE",
        cooldownPeriod: "PT5M",
        deleteVolumes: true,
        ...parts.scaleIn,
      },
      scaleOutAction: { amount: 1, amountType: "ABSOLUTE", cooldownPeriod: "PT5M", ...parts.scaleOut },
      ...parts.policy,
    },
    replicaConfiguration: {
      cores: 2,
      ram: 2048,
      nics: [{ lan: 1, name: "n0", ...parts.nic }],
      volumes: [
        { name: "os", size: 10, type: "SSD_PREMIUM", imageAlias: "ubuntu:latest", bootOrder: "AUTO", ...parts.volume },
      ],
      ...parts.replica,
    },
    ...properties,
  },
});

export const idOf = (path: string) => path.split("/").at(-1);

/** Calls that the tests of scaling groups share. */
export function scalerFor(platform: Platform) {
  const read = async (path: string) => resource(await platform.call("GET", path));

  async function replicas(group: string) {
    return items(await platform.call("GET", `${group}/servers?depth=1`)).map((each) => replicaShape.parse(each));
  }

  const load = (shape: object, more: object = {}) => platform.steer("PUT", "load", { shape, ...more });

  return {
    /** A group whose first replicas are up. */
    async group(body: object): Promise<string> {
      const answer = await platform.call("POST", groups, body);
      expect(answer).toMatchObject({ status: 201 });
      await platform.advance(15);
      return `${groups}/${resource(answer).id}`;
    },
    read,
    stateOf: async (group: string) => (await read(group)).metadata.state,
    replicas,
    count: async (group: string) => (await replicas(group)).length,
    async actions(group: string) {
      const found = items(await platform.call("GET", `${group}/actions?depth=1`));
      return found.map((each) => actionShape.parse(each));
    },
    /** The names of all servers of a datacenter. */
    async servers(datacenter: string): Promise<unknown[]> {
      const found = items(await platform.core("GET", `${datacenter}/servers?depth=1`));
      return found.map((each) => z.looseObject({ properties: z.looseObject({}) }).parse(each).properties.name);
    },
    load,
    /** Puts the same load on a group all the time. */
    constant: (group: string, value: number, more: object = {}) =>
      load({ type: "constant", value }, { group: idOf(group), ...more }),
  };
}

/** Groups in one datacenter that differ from the sample in what is named. */
export function groupsIn(platform: Platform, datacenter: string) {
  const scaler = scalerFor(platform);
  return {
    group: (properties: object = {}, parts: Parts = {}) => scaler.group(groupBody(datacenter, properties, parts)),
    put: (path: string, properties: object, parts: Parts = {}) =>
      platform.call("PUT", path, groupBody(datacenter, properties, parts)),
  };
}
