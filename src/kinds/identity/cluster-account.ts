import { z } from "zod";
import type { Kind } from "../kind.ts";
import { accountAnnotations, accountColumns, accountRules, accountSpec, accountStatus } from "./account.ts";
import { admitsNamespace, type Guest, kindNames, namespaces } from "./admission.ts";

const sharing = z.object({
  namespaces: namespaces.optional().describe("Namespaces that may use it, by name or by selector. Default: none."),
  kinds: kindNames()
    .optional()
    .describe(
      "Kinds that may use it. Default: all but those that act on the whole contract, such as CentralLogging, which must be named.",
    ),
  default: z
    .boolean()
    .default(false)
    .describe(
      "Used by objects without accountRef in namespaces without an Account. If several are the default, the newest is used.",
    ),
  adoption: z
    .enum(["None", "Any"])
    .default("None")
    .describe(
      "Resources that objects may name by id. None: only those of objects in their own namespace. Any: all of the contract.",
    ),
  inferenceBudget: z
    .object({
      eurPerDay: z
        .number()
        .min(0)
        .max(1_000_000)
        .describe(
          "Maximum cost of a namespace's calls per day (UTC) in EUR, whatever the budgets of its InferenceAccess objects; 0 allows none.",
        ),
    })
    .optional()
    .describe("Budget of each namespace for calls through the inference gateway. Default: no limit."),
});

export const clusterAccount: Kind = {
  kind: "ClusterAccount",
  plural: "clusteraccounts",
  scope: "Cluster",
  governs: true,
  shortNames: ["cacct"],
  free: true,
  description: "Credentials of one contract of the platform, shared by the namespaces that it admits.",
  spec: accountSpec.extend(sharing.shape),
  status: accountStatus.extend({
    adoptions: z
      .record(z.string(), z.record(z.string(), z.iso.datetime()))
      .optional()
      .describe("When resources were adopted, by hash. Earlier claims to them are void."),
  }),
  rules: accountRules,
  immutable: {},
  annotations: accountAnnotations,
  columns: [
    { name: "Default", type: "boolean", path: ".spec.default", description: "True if it is the default" },
    ...accountColumns,
  ],
};

export type Sharing = z.output<typeof sharing>;

const closed: Sharing = { default: false, adoption: "None" };
/** A spec that cannot be parsed admits nobody. */
export const readSharing = (raw: unknown): Sharing => sharing.safeParse(raw).data ?? closed;

/** An object that asks for access, with the labels of its namespace. */
export interface Applicant extends Guest {
  kind: Pick<Kind, "kind" | "resource" | "task">;
}

export function admits({ namespaces = {}, kinds }: Sharing, { kind, ...guest }: Applicant): boolean {
  const { contractWide } = kind.resource?.identity ?? kind.task ?? {};
  const needed = contractWide === undefined ? [kind.kind] : [kind.kind, contractWide];
  const isKindAdmitted = kinds ? needed.every((each) => kinds.includes(each)) : contractWide === undefined;
  return isKindAdmitted && admitsNamespace(namespaces, guest);
}
