import type { Kind } from "./kind.ts";
import { applicationForwardingRule } from "./kinds/application-forwarding-rule.ts";
import { backupUnit } from "./kinds/backup-unit.ts";
import { image, location, template } from "./kinds/catalogue.ts";
import { crossConnect } from "./kinds/cross-connect.ts";
import { datacenter } from "./kinds/datacenter.ts";
import { firewallRule } from "./kinds/firewall-rule.ts";
import { flowLog } from "./kinds/flow-log.ts";
import { gpu } from "./kinds/gpu.ts";
import { group } from "./kinds/group.ts";
import { ipblock } from "./kinds/ipblock.ts";
import { kubernetesCluster } from "./kinds/kubernetes-cluster.ts";
import { label } from "./kinds/label.ts";
import { lan } from "./kinds/lan.ts";
import { loadBalancer } from "./kinds/load-balancer.ts";
import { applicationLoadBalancer, networkLoadBalancer } from "./kinds/managed-load-balancer.ts";
import { natGateway, natGatewayRule } from "./kinds/nat-gateway.ts";
import { networkForwardingRule } from "./kinds/network-forwarding-rule.ts";
import { nic } from "./kinds/nic.ts";
import { node } from "./kinds/node.ts";
import { nodePool } from "./kinds/node-pool.ts";
import { s3Key } from "./kinds/s3-key.ts";
import { securityGroup, securityGroupRule } from "./kinds/security-group.ts";
import { server } from "./kinds/server.ts";
import { share } from "./kinds/share.ts";
import { snapshot } from "./kinds/snapshot.ts";
import { targetGroup } from "./kinds/target-group.ts";
import { user } from "./kinds/user.ts";
import { volume } from "./kinds/volume.ts";

/** Every type of resource of the core API. Routes, views, writes and the steering state all come from here. */
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
  /** Of a link: the holder refers to the members. */
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
