import { YES } from "../../engine/state/annotations.ts";
import { ALLOW_DELETION } from "../../engine/state/names.ts";
import { GROUP } from "../../kinds/index.ts";
import { SPENDING_LABEL, SPENDING_NAMES } from "../../kinds/inference/spending.ts";
import type { GatewayInstallation } from "./gateway-rights.ts";
import { configMapRules, leaseRules, objectRules, type Rules, secretRules } from "./operator-rules.ts";
import { clusterNameOf, type Installation, usernameOf } from "./rbac.ts";

const api = { apiVersion: "admissionregistration.k8s.io/v1" };

/**
 * Limits that RBAC cannot express. With the right to create Secrets, the operator could create one of the type that
 * holds the token of any ServiceAccount; with the right to update them, it could change any Secret. These policies
 * refuse both, only for the operator's ServiceAccount.
 */
export function operatorPolicies(installation: Installation = {}): object[] {
  return [
    ...ofOperator(installation, "secrets", "", secretRules(installation)),
    ...ofOperator(installation, "configmaps", "", configMapRules()),
    ...ofOperator(installation, "leases", "coordination.k8s.io", leaseRules(installation)),
    ...ofOperator(installation, "objects", GROUP, objectRules(), "*"),
  ];
}

/**
 * Deleting a CRD deletes all of its objects and their resources on the platform. The policy applies to everybody. There
 * is one per cluster, like the CRDs.
 */
export function crdPolicy(): object[] {
  const word = `oldObject.metadata.?annotations.orValue({})[?'${ALLOW_DELETION}'].orValue('')`;
  const allowed = `${word}.trim().lowerAscii() in [${YES.map((each) => `'${each}'`).join(", ")}]`;
  const message = `Deleting this CRD deletes all of its objects and their resources on the platform. Resources of objects with deletionPolicy: Retain stay. To allow it, annotate the CRD with ${ALLOW_DELETION}=true`;
  return policy("mooring-crds", resource("apiextensions.k8s.io", "customresourcedefinitions", ["DELETE"]), {
    matchConditions: [{ name: "crds-of-mooring", expression: `oldObject.spec.group == '${GROUP}'` }],
    validations: [{ expression: allowed, message, reason: "Forbidden" }],
  });
}

const resource = (group: string, plural: string, operations: string[]) => ({
  apiGroups: [group],
  apiVersions: [plural === "*" ? "*" : "v1"],
  operations,
  resources: [plural],
  scope: "*",
});

const WRITES = ["CREATE", "UPDATE", "DELETE"];

function ofOperator(installation: Installation, title: string, group: string, rules: Rules, plural = title) {
  const isOperator = `request.userInfo.username == '${usernameOf(installation)}'`;
  return policy(`${clusterNameOf(installation)}-${title}`, resource(group, plural, WRITES), {
    matchConditions: [{ name: "the-operator", expression: isOperator }],
    ...rules,
  });
}

/** RBAC cannot restrict a create to a name, so this policy limits the gateway to its own ConfigMaps. */
export function gatewayPolicy({ namespace, account, name }: GatewayInstallation): object[] {
  const isGateway = `request.userInfo.username == 'system:serviceaccount:${namespace}:${account}'`;
  const names = SPENDING_NAMES.map((each) => `'${each}'`).join(", ");
  const labels = Object.entries(SPENDING_LABEL).map(
    ([label, value]) => `object.metadata.?labels.orValue({})[?'${label}'] == optional.of('${value}')`,
  );
  const isRecord = [`object.metadata.name in [${names}]`, `request.namespace == '${namespace}'`, ...labels].join(
    " && ",
  );
  return policy(`${name}-configmaps`, resource("", "configmaps", WRITES), {
    matchConditions: [{ name: "the-gateway", expression: isGateway }],
    validations: [
      {
        expression: `request.operation != 'DELETE' && ${isRecord}`,
        message: "The gateway writes only the ConfigMaps that record spending",
      },
    ],
  });
}

function policy(name: string, resourceRule: object, rules: object): object[] {
  const spec = {
    failurePolicy: "Fail",
    // Includes the API server's defaults, because the field is atomic: all appliers must agree on its whole value.
    matchConstraints: {
      matchPolicy: "Equivalent",
      namespaceSelector: {},
      objectSelector: {},
      resourceRules: [resourceRule],
    },
    ...rules,
  };
  const binding = { policyName: name, validationActions: ["Deny"] };
  return [
    { ...api, kind: "ValidatingAdmissionPolicy", metadata: { name }, spec },
    { ...api, kind: "ValidatingAdmissionPolicyBinding", metadata: { name }, spec: binding },
  ];
}
