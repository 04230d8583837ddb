import { z } from "zod";
import { plainResource, type Resource } from "./store/resource.ts";
import type { Resources } from "./store/resources.ts";

/** The privileges that a group can give, by their names on the wire. */
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

export const userSchema = z.object({
  id: z.string(),
  username: z.string(),
  password: z.string(),
  role: z.enum(["owner", "administrator", "user"]),
  /** Accounts with two-factor authentication cannot use Basic credentials. */
  twoFactor: z.boolean(),
  /** An inactive user cannot log in. */
  active: z.boolean().default(true),
  /**
   * Granted to the user directly, besides the privileges of the user's groups. Rows of earlier versions have no list,
   * which means all.
   */
  privileges: z
    .array(privilegeFlagSchema)
    .readonly()
    .default([...privilegeFlags]),
});

/** The account that logs in. The rest of what the API shows of a user is in the resource under `userKey`. */
export type User = Readonly<z.infer<typeof userSchema>>;

export const userKey = (userId: string) => `um/users/${userId}`;

/** The groups of a user; they refer to the user. */
export const groupsOf = (resources: Resources, userId: string): Resource[] =>
  resources.referrers(userKey(userId), "group");

/** The resource of a new user. */
export function newProfile({ id, username }: User, s3CanonicalUserId: string, at: number): Resource {
  return plainResource(
    { key: userKey(id), id, type: "user", collection: "um/users", parent: "" },
    { firstname: username.split("@")[0] ?? "", lastname: "", forceSecAuth: false, s3CanonicalUserId },
    at,
    id,
  );
}
