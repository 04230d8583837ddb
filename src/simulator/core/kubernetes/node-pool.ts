import { z } from "zod";
import { numberIn, type Resource, textIn, textsIn } from "../../store/resource.ts";
import type { World } from "../../world.ts";
import type { Draft, Kind } from "../kind/kind.ts";
import { publicAddress } from "../network/addresses.ts";
import { defaultWindow, kubernetesName, maintenanceWindow, nodePoolVersionsOf, upgradesOf } from "./cluster.ts";

const texts = z.record(z.string(), z.string());
const count = z.int().min(0);

export const nodePool: Kind = {
  type: "nodepool",
  collection: "nodepools",
  param: "nodepoolId",
  parents: ["k8s"],
  verbs: { collection: "GP", item: "GUD" },
  paged: false,
  schema: z.object({
    name: kubernetesName,
    datacenterId: z.string(),
    nodeCount: z.int().min(1).max(100),
    cpuFamily: z.string().nullish(),
    serverType: z.enum(["DedicatedCore", "VCPU"]).nullish(),
    coresCount: z.int().min(1),
    ramSize: z.int().min(2048).multipleOf(1024),
    availabilityZone: z.enum(["AUTO", "ZONE_1", "ZONE_2"]),
    storageType: z.enum(["HDD", "SSD"]),
    storageSize: z.int().min(10),
    k8sVersion: z.string().nullish(),
    maintenanceWindow: maintenanceWindow.nullish(),
    // Without either count there is no scaling.
    autoScaling: z.object({ minNodeCount: count.nullish(), maxNodeCount: count.nullish() }).nullish(),
    lans: z.array(z.looseObject({ id: z.int().min(1), dhcp: z.boolean().nullish() })).nullish(),
    labels: texts.nullish(),
    annotations: texts.nullish(),
    taints: z
      .array(
        z.object({
          key: z.string().min(1),
          value: z.string().nullish(),
          effect: z.enum(["NoSchedule", "PreferNoSchedule", "NoExecute"]),
        }),
      )
      .nullish(),
    publicIps: z.array(z.ipv4()).nullish(),
  }),
  createOnly: [
    "name",
    "datacenterId",
    "cpuFamily",
    "serverType",
    "coresCount",
    "ramSize",
    "availabilityZone",
    "storageType",
    "storageSize",
  ],
  keptOnPut: [
    "nodeCount",
    "k8sVersion",
    "maintenanceWindow",
    "autoScaling",
    "lans",
    "labels",
    "annotations",
    "taints",
    "publicIps",
  ],
  defaults: {
    serverType: "DedicatedCore",
    maintenanceWindow: defaultWindow,
    lans: [],
    labels: {},
    annotations: {},
    taints: [],
    publicIps: [],
  },
  spans: { create: [20, 40], update: [10, 20], delete: [10, 20] },
  visibleAtOnce: true,
  states: { create: "DEPLOYING", update: "UPDATING", delete: "DESTROYING", idle: "ACTIVE" },

  shape(draft) {
    const { world, key, given, next, previous } = draft;
    // Single nodes can be deleted, so the count follows from the nodes that are left.
    if (given.nodeCount === undefined) next.nodeCount = nodesOf(world, key).length;
    checkVersion(draft);
    checkCounts(draft);
    if (previous === null) {
      const datacenter = world.resources.byId("datacenter", textIn(next, "datacenterId") ?? "");
      if (datacenter === undefined) draft.fault("datacenterId", "the datacenter does not exist");
      else draft.refs = [datacenter.key];
    }
    resize(draft, numberIn(next, "nodeCount") ?? 0);
  },

  view(world, { key, properties }) {
    const version = textIn(properties, "k8sVersion") ?? "";
    const clusterVersion = versionOf(world, key);
    return {
      ...properties,
      nodeCount: nodesOf(world, key).length,
      availableUpgradeVersions: upgradesOf(version).filter((each) => nodePoolVersionsOf(clusterVersion).includes(each)),
    };
  },
};

/** The nodes of a pool, without those that are being deleted. */
const nodesOf = (world: World, poolKey: string): Resource[] =>
  [...world.resources.children(poolKey, "nodes")].filter(({ shownState }) => shownState !== "TERMINATING");

/** The version of the cluster that a pool belongs to. */
const versionOf = (world: World, poolKey: string): string =>
  textIn(world.resources.get(poolKey.split("/", 2).join("/"))?.properties ?? {}, "k8sVersion") ?? "";

function checkVersion(draft: Draft): void {
  const { world, key, next, previous } = draft;
  const clusterVersion = versionOf(world, key);
  next.k8sVersion ??= clusterVersion;
  const current = previous && textIn(previous.properties, "k8sVersion");
  const viable = nodePoolVersionsOf(clusterVersion);
  const allowed = current ? [current, ...upgradesOf(current).filter((each) => viable.includes(each))] : viable;
  if (!allowed.some((version) => version === next.k8sVersion)) {
    draft.fault("k8sVersion", `must be one of ${allowed.join(", ")}`);
  }
}

const scaling = z.object({ minNodeCount: z.number(), maxNodeCount: z.number() });
const noScaling = z.object({ minNodeCount: z.null().optional(), maxNodeCount: z.null().optional() });

function checkCounts(draft: Draft): void {
  const { next } = draft;
  const nodes = numberIn(next, "nodeCount") ?? 0;
  if (noScaling.safeParse(next.autoScaling).success) next.autoScaling = null;
  const { data, error } = scaling.safeParse(next.autoScaling ?? { minNodeCount: 0, maxNodeCount: 0 });
  for (const { path } of error?.issues ?? []) draft.fault(`autoScaling.${path.join(".")}`, "is required");
  // Zero and zero switch it off.
  if (data !== undefined && data.maxNodeCount > 0) {
    const { minNodeCount: least, maxNodeCount: most } = data;
    if (least < 1 || least > most) draft.fault("autoScaling.minNodeCount", "must be from 1 to maxNodeCount");
    else if (nodes < least || nodes > most) draft.fault("nodeCount", `must be from ${least} to ${most}`);
  }
  const ips = textsIn(next, "publicIps");
  // One more than there are nodes: a replaced node is deleted after its replacement exists.
  const needed = Math.max(nodes, data?.maxNodeCount ?? 0) + 1;
  if (ips.length > 0 && ips.length < needed) draft.fault("publicIps", `must have at least ${needed} addresses`);
}

/** Adds nodes, or deletes the newest, until the pool has the desired number. */
function resize(draft: Draft, desired: number): void {
  const { world, key, next } = draft;
  const present = nodesOf(world, key);
  for (const node of present.slice(desired)) draft.removeRelated(node);
  const isPublic = world.resources.get(key.split("/", 2).join("/"))?.properties.public !== false;
  const used = present.slice(0, desired).map(({ properties }) => properties.publicIP);
  const free = textsIn(next, "publicIps").filter((ip) => !used.includes(ip));
  for (let index = present.length; index < desired; index += 1) {
    const number = world.counters.next(`node/${key}`);
    draft.createRelated("node", { key }, world.chance.uuid("node"), {
      name: `${textIn(next, "name")}-${world.chance.uuid("node-name").slice(0, 8)}`,
      publicIP: isPublic ? (free.shift() ?? publicAddress(world)) : null,
      privateIP: `10.7.${Math.floor(number / 250) % 250}.${(number % 250) + 10}`,
    });
  }
}

/** A node of a node pool, created and deleted with the pool's size. */
export const node: Kind = {
  type: "node",
  collection: "nodes",
  param: "nodeId",
  parents: ["nodepool"],
  verbs: { collection: "G", item: "GD" },
  paged: false,
  schema: z.object({}),
  spans: { create: [20, 40], update: [10, 20], delete: [5, 10] },
  states: { create: "PROVISIONING", update: "REBUILDING", delete: "TERMINATING", idle: "READY" },
  view: (world, { parent, properties }) => ({
    ...properties,
    k8sVersion: world.resources.get(parent)?.properties.k8sVersion,
  }),
};
