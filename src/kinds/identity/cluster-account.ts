import { z } from "zod";
import { formed, list, objectName } from "../fields/fields.ts";
import type { Kind } from "../kind.ts";
import { accountColumns, accountRules, accountSpec, accountStatus } from "./account.ts";

const labelKey = () =>
  formed(/^([a-z0-9.-]+\/)?[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/, 317, "must be the key of a label");
const labelValue = () =>
  formed(/^([A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?)?$/, 63, "must be the value of a label").describe("A value.");

const expression = z
  .object({
    key: labelKey().describe("Key of the label."),
    operator: z.enum(["In", "NotIn", "Exists", "DoesNotExist"]).describe("How the label is judged."),
    values: list(labelValue(), { max: 32 }).optional().describe("The values, for In and NotIn."),
  })
  .meta({
    "x-kubernetes-validations": [
      {
        rule: "(self.operator in ['In', 'NotIn']) == (has(self.values) && size(self.values) > 0)",
        message: "values are needed with In and NotIn, and only there",
      },
    ],
  })
  .describe("A condition.");

const sharing = z.object({
  namespaces: z
    .object({
      names: list(objectName().describe("Name of a namespace."), { max: 256 }).optional().describe("These namespaces."),
      selector: z
        .object({
          matchLabels: z.record(z.string(), z.string()).optional().describe("Labels that the namespace has."),
          matchExpressions: list(expression, { max: 16 }).optional().describe("Conditions, all of which hold."),
        })
        .optional()
        .describe("Namespaces with these labels; an empty selector means all namespaces."),
    })
    .optional()
    .describe("Who may use it: namespaces that are named here, and those that the selector matches. Default: none."),
  kinds: list(formed(/^[A-Z][A-Za-z]+$/, 63, "must be the name of a kind, for example Server").describe("A kind."), {
    max: 64,
  })
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
export interface Applicant {
  kind: Pick<Kind, "kind" | "resource">;
  namespace: string;
  labels: Readonly<Record<string, string>> | undefined;
}

export function admits({ namespaces = {}, kinds }: Sharing, { kind, namespace, labels }: Applicant): boolean {
  const isKind = kinds ? kinds.includes(kind.kind) : !kind.resource?.identity.contractWide;
  const { names = [], selector } = namespaces;
  return isKind && (names.includes(namespace) || (selector !== undefined && !!labels && selects(selector, labels)));
}

type Selector = NonNullable<NonNullable<Sharing["namespaces"]>["selector"]>;

/** As the API server judges a label selector: what NotIn is about need not be there. */
function selects(
  { matchLabels = {}, matchExpressions = [] }: Selector,
  labels: Readonly<Record<string, string>>,
): boolean {
  const holds = ({ key, operator, values = [] }: (typeof matchExpressions)[number]) => {
    const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
    const isAmong = value !== undefined && values.includes(value);
    switch (operator) {
      case "In":
        return isAmong;
      case "NotIn":
        return !isAmong;
      case "Exists":
        return value !== undefined;
      case "DoesNotExist":
        return value === undefined;
    }
  };
  const exact = Object.entries(matchLabels).map(([key, value]) => ({ key, operator: "In" as const, values: [value] }));
  return [...exact, ...matchExpressions].every(holds);
}
