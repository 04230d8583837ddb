import {
  ApplicationLoadBalancersApi,
  BackupUnitsApi,
  type Configuration,
  ContractResourcesApi,
  DataCentersApi,
  DefaultApi,
  FirewallRulesApi,
  FlowLogsApi,
  ImagesApi,
  IPBlocksApi,
  KubernetesApi,
  LANsApi,
  LabelsApi,
  LoadBalancersApi,
  LocationsApi,
  NATGatewaysApi,
  NetworkInterfacesApi,
  NetworkLoadBalancersApi,
  PrivateCrossConnectsApi,
  RequestsApi,
  SecurityGroupsApi,
  ServersApi,
  SnapshotsApi,
  TargetGroupsApi,
  TemplatesApi,
  UserManagementApi,
  UserS3KeysApi,
  VolumesApi,
} from "@ionos-cloud/sdk-nodejs";
import type { Answer } from "./sdk.ts";

/** Returns the id of an existing resource by name. */
export type IdOf = (name: string) => string;

/** Every id under the parameter names of the SDK's methods. */
const usual = (id: IdOf) => ({
  backupunitId: id("backupUnit"),
  cdromId: id("cdrom"),
  datacenterId: id("datacenter"),
  firewallruleId: id("firewallRule"),
  flowlogId: id("nicFlowLog"),
  groupId: id("group"),
  imageId: id("image"),
  ipblockId: id("ipblock"),
  k8sClusterId: id("cluster"),
  key: id("label"),
  keyId: id("s3Key"),
  labelurn: id("labelUrn"),
  lanId: id("lan"),
  loadbalancerId: id("loadBalancer"),
  locationId: id("site"),
  nicId: id("nic"),
  nodeId: id("node"),
  nodepoolId: id("pool"),
  pccId: id("pcc"),
  regionId: id("region"),
  requestId: id("request"),
  resourceId: id("datacenter"),
  resourceType: id("resourceType"),
  ruleId: id("securityRule"),
  securityGroupId: id("securityGroup"),
  serverId: id("server"),
  snapshotId: id("snapshot"),
  targetGroupId: id("targetGroup"),
  templateId: id("template"),
  userId: id("user"),
  volumeId: id("volume"),
  networkLoadBalancerId: id("nlb"),
  applicationLoadBalancerId: id("alb"),
  natGatewayId: id("nat"),
  natGatewayRuleId: id("natRule"),
  forwardingRuleId: id("nlbRule"),
  flowLogId: id("nlbFlowLog"),
});
const ofAlb = (id: IdOf) => ({ ...usual(id), forwardingRuleId: id("albRule"), flowLogId: id("albFlowLog") });
const ofOwner = (id: IdOf) => ({ ...usual(id), userId: id("owner") });
const ofNat = (id: IdOf) => ({ ...usual(id), flowLogId: id("natFlowLog") });

type Arguments = ReturnType<typeof usual> & { depth: number };
type Api<Method extends string> = new (
  configuration: Configuration,
) => Record<Method, (parameters: Arguments) => Promise<Answer<unknown>>>;

export interface Read {
  method: string;
  call(configuration: Configuration, id: IdOf, depth: number): Promise<Answer<unknown>>;
  /** Type of the resource, or of the items of the collection. */
  type: string;
  shape: "collection" | "item" | "value";
}

const read =
  (shape: Read["shape"]) =>
  <Method extends string>(Api: Api<NoInfer<Method>>, method: Method, type = "", ids = usual): Read => ({
    method,
    type,
    shape,
    call: (configuration, id, depth) => new Api(configuration)[method]({ ...ids(id), depth }),
  });
const collection = read("collection");
const item = read("item");
const value = read("value");

/** A collection and its items. */
const both = <Method extends string>(
  Api: Api<NoInfer<Method>>,
  list: Method,
  find: Method,
  type: string,
  ids = usual,
): Read[] => [collection(Api, list, type, ids), item(Api, find, type, ids)];

/** Every method of the SDK that reads. */
export const reads: readonly Read[] = [
  value(DefaultApi, "apiInfoGet"),
  ...both(DataCentersApi, "datacentersGet", "datacentersFindById", "datacenter"),
  ...both(ServersApi, "datacentersServersGet", "datacentersServersFindById", "server"),
  value(ServersApi, "datacentersServersRemoteConsoleGet"),
  value(ServersApi, "datacentersServersTokenGet"),
  ...both(ServersApi, "datacentersServersVolumesGet", "datacentersServersVolumesFindById", "volume"),
  ...both(ServersApi, "datacentersServersCdromsGet", "datacentersServersCdromsFindById", "image"),
  ...both(NetworkInterfacesApi, "datacentersServersNicsGet", "datacentersServersNicsFindById", "nic"),
  ...both(
    FirewallRulesApi,
    "datacentersServersNicsFirewallrulesGet",
    "datacentersServersNicsFirewallrulesFindById",
    "firewall-rule",
  ),
  ...both(FlowLogsApi, "datacentersServersNicsFlowlogsGet", "datacentersServersNicsFlowlogsFindById", "flow-log"),
  ...both(VolumesApi, "datacentersVolumesGet", "datacentersVolumesFindById", "volume"),
  ...both(LANsApi, "datacentersLansGet", "datacentersLansFindById", "lan"),
  ...both(LANsApi, "datacentersLansNicsGet", "datacentersLansNicsFindById", "nic"),
  ...both(LoadBalancersApi, "datacentersLoadbalancersGet", "datacentersLoadbalancersFindById", "loadbalancer"),
  ...both(
    LoadBalancersApi,
    "datacentersLoadbalancersBalancednicsGet",
    "datacentersLoadbalancersBalancednicsFindByNicId",
    "nic",
  ),
  ...both(
    NetworkLoadBalancersApi,
    "datacentersNetworkloadbalancersGet",
    "datacentersNetworkloadbalancersFindByNetworkLoadBalancerId",
    "networkloadbalancer",
  ),
  ...both(
    NetworkLoadBalancersApi,
    "datacentersNetworkloadbalancersForwardingrulesGet",
    "datacentersNetworkloadbalancersForwardingrulesFindByForwardingRuleId",
    "forwarding-rule",
  ),
  ...both(
    NetworkLoadBalancersApi,
    "datacentersNetworkloadbalancersFlowlogsGet",
    "datacentersNetworkloadbalancersFlowlogsFindByFlowLogId",
    "flow-log",
  ),
  ...both(
    ApplicationLoadBalancersApi,
    "datacentersApplicationloadbalancersGet",
    "datacentersApplicationloadbalancersFindByApplicationLoadBalancerId",
    "applicationloadbalancer",
  ),
  ...both(
    ApplicationLoadBalancersApi,
    "datacentersApplicationloadbalancersForwardingrulesGet",
    "datacentersApplicationloadbalancersForwardingrulesFindByForwardingRuleId",
    "forwarding-rule",
    ofAlb,
  ),
  ...both(
    ApplicationLoadBalancersApi,
    "datacentersApplicationloadbalancersFlowlogsGet",
    "datacentersApplicationloadbalancersFlowlogsFindByFlowLogId",
    "flow-log",
    ofAlb,
  ),
  ...both(NATGatewaysApi, "datacentersNatgatewaysGet", "datacentersNatgatewaysFindByNatGatewayId", "natgateway"),
  ...both(
    NATGatewaysApi,
    "datacentersNatgatewaysRulesGet",
    "datacentersNatgatewaysRulesFindByNatGatewayRuleId",
    "natgateway-rule",
  ),
  ...both(
    NATGatewaysApi,
    "datacentersNatgatewaysFlowlogsGet",
    "datacentersNatgatewaysFlowlogsFindByFlowLogId",
    "flow-log",
    ofNat,
  ),
  ...both(SecurityGroupsApi, "datacentersSecuritygroupsGet", "datacentersSecuritygroupsFindById", "security-group"),
  ...both(
    SecurityGroupsApi,
    "datacentersSecuritygroupsRulesGet",
    "datacentersSecuritygroupsRulesFindById",
    "firewall-rule",
  ),
  ...both(IPBlocksApi, "ipblocksGet", "ipblocksFindById", "ipblock"),
  ...both(SnapshotsApi, "snapshotsGet", "snapshotsFindById", "snapshot"),
  ...both(ImagesApi, "imagesGet", "imagesFindById", "image"),
  ...both(TemplatesApi, "templatesGet", "templatesFindById", "template"),
  collection(LocationsApi, "locationsGet", "location"),
  ...both(LocationsApi, "locationsFindByRegionId", "locationsFindByRegionIdAndId", "location"),
  ...both(TargetGroupsApi, "targetgroupsGet", "targetgroupsFindByTargetGroupId", "target-group"),
  ...both(PrivateCrossConnectsApi, "pccsGet", "pccsFindById", "pcc"),
  ...both(LabelsApi, "labelsGet", "labelsFindByUrn", "label"),
  ...both(LabelsApi, "datacentersLabelsGet", "datacentersLabelsFindByKey", "label"),
  ...both(LabelsApi, "datacentersServersLabelsGet", "datacentersServersLabelsFindByKey", "label"),
  ...both(LabelsApi, "datacentersVolumesLabelsGet", "datacentersVolumesLabelsFindByKey", "label"),
  ...both(LabelsApi, "imagesLabelsGet", "imagesLabelsFindByKey", "label"),
  ...both(LabelsApi, "ipblocksLabelsGet", "ipblocksLabelsFindByKey", "label"),
  ...both(LabelsApi, "snapshotsLabelsGet", "snapshotsLabelsFindByKey", "label"),
  collection(ContractResourcesApi, "contractsGet", "contract"),
  ...both(RequestsApi, "requestsGet", "requestsFindById", "request"),
  value(RequestsApi, "requestsStatusGet"),
  ...both(BackupUnitsApi, "backupunitsGet", "backupunitsFindById", "backupunit"),
  value(BackupUnitsApi, "backupunitsSsourlGet"),
  ...both(KubernetesApi, "k8sGet", "k8sFindByClusterId", "k8s"),
  value(KubernetesApi, "k8sVersionsGet"),
  value(KubernetesApi, "k8sVersionsDefaultGet"),
  value(KubernetesApi, "k8sKubeconfigGet"),
  ...both(KubernetesApi, "k8sNodepoolsGet", "k8sNodepoolsFindById", "nodepool"),
  ...both(KubernetesApi, "k8sNodepoolsNodesGet", "k8sNodepoolsNodesFindById", "node"),
  ...both(UserManagementApi, "umUsersGet", "umUsersFindById", "user"),
  collection(UserManagementApi, "umUsersGroupsGet", "group"),
  collection(UserManagementApi, "umUsersOwnsGet", "", ofOwner),
  ...both(UserS3KeysApi, "umUsersS3keysGet", "umUsersS3keysFindByKeyId", "s3key"),
  value(UserS3KeysApi, "umUsersS3ssourlGet"),
  ...both(UserManagementApi, "umGroupsGet", "umGroupsFindById", "group"),
  collection(UserManagementApi, "umGroupsUsersGet", "user"),
  ...both(UserManagementApi, "umGroupsSharesGet", "umGroupsSharesFindByResourceId", "resource"),
  collection(UserManagementApi, "umGroupsResourcesGet", "datacenter"),
  collection(UserManagementApi, "umResourcesGet"),
  ...both(UserManagementApi, "umResourcesFindByType", "umResourcesFindByTypeAndId", "datacenter"),
];
