import { z } from "zod";
import type { Kind } from "../kind.ts";
import { accountColumns, accountRules, accountSpec, accountStatus } from "./account.ts";
import { admitsNamespace, type Guest, kindNames, namespaces } from "./admission.ts";

const sharing = z.object({
  namespaces: namespaces
    .optional()
    .describe("Who may use it: namespaces that are named here, and those that the selector matches. Default: none."),
  kinds: kindNames()
    .optional()
    .describe(
      "Kinds that may use it. Default: all but those that act on the whole contract, such as CentralLogging, which have to be named.",
    ),
  default: z
    .boolean()
    .default(false)
    .describe(
      "Whether it is used by objects that name no Account, in namespaces that have none. Of several the newest is.",
    ),
  adoption: z
    .enum(["None", "Any"])
    .default("None")
    .describe(
      "What objects may reach by the platform's id: None, only what their own namespace has made; Any, all of the contract.",
    ),
});

export const clusterAccount: Kind = {
  kind: "ClusterAccount",
  plural: "clusteraccounts",
  scope: "Cluster",
  shortNames: ["cacct"],
  description: "Credentials of one contract of the platform, shared by the namespaces that it admits.",
  spec: accountSpec.extend(sharing.shape),
  status: accountStatus,
  rules: accountRules,
  immutable: {},
  columns: [
    { name: "Default", type: "boolean", path: ".spec.default", description: "Whether it is used where none is named" },
    ...accountColumns,
  ],
};

/** Who may use a ClusterAccount, and what for. */
export type Sharing = z.output<typeof sharing>;

const closed: Sharing = { default: false, adoption: "None" };
/** What cannot be read admits nobody. */
export const readSharing = (raw: unknown): Sharing => sharing.safeParse(raw).data ?? closed;

/** An object that asks, and the labels of its namespace. */
export interface Applicant extends Guest {
  kind: Pick<Kind, "kind" | "resource">;
}

export function admits({ namespaces = {}, kinds }: Sharing, { kind, ...guest }: Applicant): boolean {
  const isKind = kinds ? kinds.includes(kind.kind) : !kind.resource?.identity.contractWide;
  return isKind && admitsNamespace(namespaces, guest);
}
