import { z } from "zod";
import { refused } from "../../http/refusal.ts";
import { textIn } from "../../store/resource.ts";
import type { Kind } from "../kind/kind.ts";
import { checkLocation } from "../kind/reference.ts";

export const maintenanceWindow = z.object({
  dayOfTheWeek: z.enum(["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]),
  time: z.string().regex(/^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d)?Z?$/, "must be a time of day such as 03:00:00Z"),
});

/** The platform's choice when the body names no window. */
export const defaultWindow: z.infer<typeof maintenanceWindow> = { dayOfTheWeek: "Sunday", time: "03:00:00Z" };

/** The versions of managed Kubernetes on offer, newest first. */
export const kubernetesVersions = ["1.34.2", "1.33.6", "1.32.10", "1.31.14"];
export const defaultKubernetesVersion = "1.33.6";

const minorOf = (version: string) => Number(version.split(".")[1]);

/** The versions that a cluster or node pool can be upgraded to: the next minor version. */
export const upgradesOf = (version: string): string[] =>
  kubernetesVersions.filter((each) => minorOf(each) === minorOf(version) + 1);

/** The versions that the node pools of a cluster may run: its own and older ones. */
export const nodePoolVersionsOf = (clusterVersion: string): string[] =>
  kubernetesVersions.filter((each) => minorOf(each) <= minorOf(clusterVersion));

/** Names of clusters and node pools. */
export const kubernetesName = z
  .string()
  .max(63)
  .regex(/^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/, "must begin and end with a letter or a digit");

/** A cluster of managed Kubernetes. */
export const kubernetesCluster: Kind = {
  type: "k8s",
  collection: "k8s",
  param: "k8sClusterId",
  parents: [""],
  verbs: { collection: "GP", item: "GUD" },
  privilege: "createK8sCluster",
  paged: false,
  schema: z.object({
    name: kubernetesName,
    k8sVersion: z.string().nullish(),
    maintenanceWindow: maintenanceWindow.nullish(),
    public: z.boolean().nullish(),
    location: z.string().nullish(),
    natGatewayIp: z.ipv4().nullish(),
    nodeSubnet: z.cidrv4().nullish(),
    apiSubnetAllowList: z.array(z.string()).nullish(),
    s3Buckets: z.array(z.object({ name: z.string().min(1) })).nullish(),
  }),
  createOnly: ["public", "location", "natGatewayIp", "nodeSubnet"],
  keptOnPut: ["k8sVersion", "maintenanceWindow"],
  defaults: {
    k8sVersion: defaultKubernetesVersion,
    maintenanceWindow: defaultWindow,
    public: true,
    apiSubnetAllowList: [],
    s3Buckets: [],
  },
  spans: { create: [20, 40], update: [10, 20], delete: [10, 20] },
  visibleAtOnce: true,
  states: { create: "DEPLOYING", update: "UPDATING", delete: "DESTROYING", idle: "ACTIVE" },

  shape(draft) {
    const { given, next, previous } = draft;
    const current = previous && textIn(previous.properties, "k8sVersion");
    const allowed = current ? [current, ...upgradesOf(current)] : kubernetesVersions;
    if (!allowed.some((version) => version === next.k8sVersion)) {
      draft.fault("k8sVersion", `must be one of ${allowed.join(", ")}`);
    }
    if (previous !== null) return;
    if (next.public === false) {
      for (const name of ["location", "natGatewayIp"]) {
        if (given[name] === undefined) draft.fault(name, "is required for a private cluster");
      }
    }
    checkLocation(draft);
  },

  guard(world, { key }, write) {
    const [pool] = write === "delete" ? world.resources.children(key, "nodepools") : [];
    if (pool !== undefined) {
      throw refused(`[K8S-1] The cluster has the node pool ${textIn(pool.properties, "name")}; delete it first`);
    }
  },

  view(_world, { properties }) {
    const version = textIn(properties, "k8sVersion") ?? defaultKubernetesVersion;
    return {
      ...properties,
      availableUpgradeVersions: upgradesOf(version),
      viableNodePoolVersions: nodePoolVersionsOf(version),
    };
  },
};
