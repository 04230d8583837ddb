import type { Call } from "../http/exchange.ts";
import { errorCode, refusal } from "../http/refusal.ts";
import type { Resources } from "../store/resources.ts";
import { groupsOf, type PrivilegeFlag, privilegeFlags, type User } from "../users.ts";

/** The privileges that the platform's documentation calls by a name of their own. */
const words: Partial<Record<PrivilegeFlag, string>> = {
  createFlowLog: "Create Flow logs",
  accessAndManageMonitoring: "Access and manage Monitoring",
  accessAndManageLogging: "Access and manage Logging Service",
};

export const isAdministrator = (user: User) => user.role !== "user";

/** Owner and administrators have all privileges; a user has those granted directly or to one of the user's groups. */
export function privilegesOf(resources: Resources, user: User): PrivilegeFlag[] {
  if (isAdministrator(user)) return [...privilegeFlags];
  const groups = groupsOf(resources, user.id);
  return privilegeFlags.filter(
    (flag) => user.privileges.includes(flag) || groups.some(({ properties }) => properties[flag] === true),
  );
}

/** Throws 403, naming the privilege, unless the caller has it. */
export function requirePrivilege({ resources }: { resources: Resources }, call: Call, privilege: PrivilegeFlag): void {
  if (privilegesOf(resources, call.caller.user).includes(privilege)) return;
  throw refusal(
    403,
    errorCode.denied,
    `Access denied: the privilege "${words[privilege] ?? privilege}" is needed; a group of the user can give it`,
  );
}
