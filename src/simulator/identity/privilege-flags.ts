import { z } from "zod";

/** What a group can allow its users, by the names of the wire. */
export const privilegeFlags = [
  "createDataCenter",
  "createSnapshot",
  "reserveIp",
  "accessActivityLog",
  "createPcc",
  "s3Privilege",
  "createBackupUnit",
  "createInternetAccess",
  "createK8sCluster",
  "createFlowLog",
  "accessAndManageMonitoring",
  "accessAndManageCertificates",
  "manageDBaaS",
  "accessAndManageDns",
  "manageRegistry",
  "manageDataplatform",
  "accessAndManageLogging",
  "accessAndManageCdn",
  "accessAndManageVpn",
  "accessAndManageApiGateway",
  "accessAndManageKaas",
  "accessAndManageNetworkFileStorage",
  "accessAndManageAiModelHub",
  "accessAndManageIamResources",
  "createNetworkSecurityGroups",
] as const;

export const privilegeFlagSchema = z.enum(privilegeFlags);
export type PrivilegeFlag = z.infer<typeof privilegeFlagSchema>;

const irregular: Partial<Record<PrivilegeFlag, string>> = {
  reserveIp: "IP_BLOCK_RESERVE",
  manageDBaaS: "MANAGE_DBAAS",
};

/** A privilege as the JWT names it: createDataCenter is DATA_CENTER_CREATE. */
export function claimOf(flag: PrivilegeFlag): string {
  const upper = flag.replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2").toUpperCase();
  return irregular[flag] ?? upper.replace(/^CREATE_(.+)$/, "$1_CREATE");
}
