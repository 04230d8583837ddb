import { z } from "zod";
import { textIn } from "../store/resource.ts";
import { backupUnit } from "./compute/backup-unit.ts";
import { datacenter } from "./compute/datacenter.ts";
import { image, location, template } from "./compute/image.ts";
import { gpu, server } from "./compute/server.ts";
import { snapshot } from "./compute/snapshot.ts";
import { volume } from "./compute/volume.ts";
import type { Kind } from "./kind/kind.ts";
import { kubernetesCluster } from "./kubernetes/cluster.ts";
import { node, nodePool } from "./kubernetes/node-pool.ts";
import { applicationForwardingRule } from "./load-balancing/application-forwarding-rule.ts";
import { loadBalancer } from "./load-balancing/load-balancer.ts";
import { applicationLoadBalancer, networkLoadBalancer } from "./load-balancing/managed-load-balancer.ts";
import { networkForwardingRule } from "./load-balancing/network-forwarding-rule.ts";
import { targetGroup } from "./load-balancing/target-group.ts";
import { crossConnect } from "./network/cross-connect.ts";
import { flowLog } from "./network/flow-log.ts";
import { ipblock } from "./network/ipblock.ts";
import { lan } from "./network/lan.ts";
import { natGateway, natGatewayRule } from "./network/nat-gateway.ts";
import { nic } from "./network/nic.ts";
import { firewallRule, securityGroup, securityGroupRule } from "./network/security-group.ts";
import { group } from "./users/group.ts";
import { s3Key } from "./users/s3-keys.ts";
import { share } from "./users/share.ts";
import { user } from "./users/user.ts";

/** A label of a resource; its id is its key. Labels are written at once, without a request. */
export const label: Kind = {
  type: "label",
  collection: "labels",
  param: "key",
  parents: ["datacenter", "server", "volume", "image", "ipblock", "snapshot"],
  verbs: { collection: "GP", item: "GUD" },
  paged: false,
  entity: false,
  schema: z.object({ key: z.string().min(1).max(128), value: z.string().max(512) }),
  createOnly: ["key"],
  newId: (_world, _parent, given) => textIn(given, "key") ?? "",
};

/** Every type of resource of the core API. Routes, reads, writes and `GET /_simulator/state` follow from it. */
export const kinds: readonly Kind[] = [
  datacenter,
  server,
  volume,
  nic,
  firewallRule,
  flowLog,
  gpu,
  securityGroup,
  securityGroupRule,
  lan,
  loadBalancer,
  networkLoadBalancer,
  networkForwardingRule,
  applicationLoadBalancer,
  applicationForwardingRule,
  natGateway,
  natGatewayRule,
  targetGroup,
  crossConnect,
  ipblock,
  snapshot,
  image,
  template,
  location,
  label,
  user,
  s3Key,
  group,
  share,
  backupUnit,
  kubernetesCluster,
  nodePool,
  node,
];

const byType = new Map(kinds.map((kind) => [kind.type, kind]));

export function kindOf(type: string): Kind {
  const kind = byType.get(type);
  if (kind === undefined) throw new Error(`no kind of type ${type}`);
  return kind;
}

/** The type string that the wire knows a kind by. */
export const wireTypeOf = (type: string) => kindOf(type).wireType ?? type;

export const childKinds = (parentType: string) => kinds.filter((kind) => kind.parents.includes(parentType));

/** A collection below a resource: of its own children, or of resources linked to it. */
export interface EntityCollection {
  collection: string;
  type: string;
  linked: boolean;
  /** Only with `linked`: the holder refers to the members, not they to it. */
  shared?: boolean;
}

const collections = new Map<string, EntityCollection[]>();

export function entityCollections(type: string): EntityCollection[] {
  let found = collections.get(type);
  if (found === undefined) {
    const links = kindOf(type).links ?? [];
    const children = childKinds(type).filter((kind) => kind.entity !== false);
    found = [
      ...links.map(({ collection, type, shared = false }) => ({ collection, type, linked: true, shared })),
      ...children.map(({ collection, type }) => ({ collection, type, linked: false })),
    ];
    collections.set(type, found);
  }
  return found;
}
