import { z } from "zod";
import { formed, list, namespaceName } from "../fields/fields.ts";
import { validations } from "../fields/rules.ts";

const labelKey = () =>
  formed(/^([a-z0-9.-]+\/)?[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/, 317, "must be the key of a label");
const labelValue = () =>
  formed(/^([A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?)?$/, 63, "must be the value of a label").describe("A value.");

const expression = z
  .object({
    key: labelKey().describe("Key of the label."),
    operator: z.enum(["In", "NotIn", "Exists", "DoesNotExist"]).describe("Operator of the requirement."),
    values: list(labelValue(), { max: 32 }).optional().describe("Values, for In and NotIn."),
  })
  .meta({
    "x-kubernetes-validations": [
      {
        rule: "(self.operator in ['In', 'NotIn']) == (has(self.values) && size(self.values) > 0)",
        message: "values are required with In and NotIn, and not allowed with other operators",
      },
    ],
  })
  .describe("A condition.");

/** Namespaces that an Account or a Grant admits. */
export const namespaces = z.object({
  names: list(namespaceName().describe("Name of a namespace."), { max: 256 })
    .optional()
    .describe("Names of namespaces."),
  selector: z
    .object({
      matchLabels: z.record(z.string(), z.string()).optional().describe("Labels that the namespace must have."),
      matchExpressions: list(expression, { max: 16 })
        .optional()
        .describe("Requirements that the namespace must meet, all of them."),
    })
    .optional()
    .describe("Namespaces with these labels; an empty selector means all namespaces."),
});
type Namespaces = z.output<typeof namespaces>;

/** The kinds that use an Account. They cannot be imported here, because two of them import this file. */
export const KIND_NAMES = [
  "Datacenter",
  "Lan",
  "IPBlock",
  "Server",
  "Volume",
  "Snapshot",
  "FlowLog",
  "ScalingGroup",
  "MetricPipeline",
  "LogPipeline",
  "CentralLogging",
  "KafkaCluster",
  "KafkaTopic",
  "KafkaUser",
  "AccessToken",
  "InferenceAccess",
  "ActivityLogExport",
] as const;

/** Only the API server refuses an unknown kind: a stored object goes on admitting the others. */
const CAPITAL = /^[A-Z][A-Za-z]+$/;
const MESSAGE = "must be the name of a kind, for example Server";
const isCapital = `self.matches(${JSON.stringify(CAPITAL.source)})`;
const kindName = formed(CAPITAL, 63, MESSAGE).meta(
  validations(
    { rule: isCapital, message: MESSAGE },
    {
      rule: `!${isCapital} || self in ${JSON.stringify(KIND_NAMES)}`,
      message: `must be one of ${KIND_NAMES.join(", ")}`,
    },
  ),
);
export const kindNames = () => list(kindName.describe("A kind."), { max: 64 });

/** A namespace that asks for access, with its labels if they are known. */
export interface Guest {
  namespace: string;
  labels: Readonly<Record<string, string>> | undefined;
}

export const admitsNamespace = ({ names = [], selector }: Namespaces, { namespace, labels }: Guest): boolean =>
  names.includes(namespace) || (selector !== undefined && !!labels && selects(selector, labels));

/** Evaluates a label selector like the API server: NotIn also matches if the label is absent. */
function selects(
  { matchLabels = {}, matchExpressions = [] }: NonNullable<Namespaces["selector"]>,
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
