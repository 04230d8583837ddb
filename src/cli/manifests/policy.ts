import { CREDENTIALS, FINALIZER, MANAGED_BY } from "../../engine/objects/names.ts";
import { GROUP } from "../../kinds/index.ts";
import { SIGNING_KEY } from "../../operator/signing-key.ts";
import { clusterNameOf, type Installation, LEASE, namespaceOf, usernameOf } from "./rbac.ts";

const api = { apiVersion: "admissionregistration.k8s.io/v1" };

/**
 * What RBAC cannot say about the operator. Who may create Secrets everywhere may create one of the type with which Kubernetes
 * hands out the token of any ServiceAccount, and who may update them may change anybody's: these policies refuse both to
 * the operator's ServiceAccount, and concern nobody else.
 */
export function operatorPolicies(installation: Installation = {}): object[] {
  const namespace = namespaceOf(installation);
  const isOwn = (secret: string) =>
    `${secret}.type == 'Opaque' && ${labels(secret)}[?'${MANAGED_BY}'] == optional.of('mooring')`;
  const labels = (secret: string) => `${secret}.metadata.?labels.orValue({})`;
  const owners = (secret: string) => `${secret}.metadata.?ownerReferences.orValue([])`;
  const same = (field: string) => `object.?${field} == oldObject.?${field}`;
  const sameMeta = (field: string) => `object.metadata.?${field} == oldObject.metadata.?${field}`;
  const finalizers = (secret: string) => `${secret}.metadata.?finalizers.orValue([])`;
  const published = (secret: string) =>
    `${isOwn(secret)} && ${owners(secret)}.exists(owner, owner.?controller == optional.of(true) && owner.apiVersion.startsWith('${GROUP}/'))`;
  const signingKey = (secret: string) =>
    `${isOwn(secret)} && request.namespace == '${namespace}' && ${secret}.metadata.name == '${SIGNING_KEY}' && ${owners(secret)}.size() == 0`;
  const secrets = {
    variables: [
      { name: "published", expression: published("object") },
      { name: "wasPublished", expression: published("oldObject") },
      { name: "signingKey", expression: signingKey("object") },
      { name: "wasSigningKey", expression: signingKey("oldObject") },
      {
        name: "onlyMarks",
        expression: [
          ...["data", "type", "immutable"].map(same),
          ...["ownerReferences", "annotations"].map(sameMeta),
          ...[["object", "oldObject"] as const, ["oldObject", "object"] as const].flatMap(([a, b]) => [
            `${labels(a)}.all(name, name == '${CREDENTIALS}' || ${labels(b)}[?name] == ${labels(a)}[?name])`,
            `${finalizers(a)}.all(name, name == '${FINALIZER}' || name in ${finalizers(b)})`,
          ]),
        ].join(" && "),
      },
    ],
    validations: [
      {
        expression: "request.operation != 'CREATE' || variables.published || variables.signingKey",
        message: "Mooring creates Secrets of type Opaque only, with its label and for an object of its own",
      },
      {
        expression: [
          "request.operation != 'UPDATE'",
          "variables.onlyMarks",
          `variables.wasPublished && variables.published && ${sameMeta("ownerReferences")}`,
          "variables.wasSigningKey && variables.signingKey",
        ].join(" || "),
        message: "Of a Secret that is not its own, Mooring changes its label and its finalizer only",
      },
      { expression: "request.operation != 'DELETE'", message: "Mooring deletes no Secrets" },
    ],
  };
  const own = `object.metadata.name == '${LEASE}' && request.namespace == '${namespace}'`;
  const leases = {
    validations: [
      { expression: `request.operation != 'DELETE' && ${own}`, message: "Mooring writes no Lease but its own" },
    ],
  };
  return [
    ...policy(installation, "secrets", "", secrets),
    ...policy(installation, "leases", "coordination.k8s.io", leases),
  ];
}

function policy(installation: Installation, plural: string, group: string, rules: object): object[] {
  const metadata = { name: `${clusterNameOf(installation)}-${plural}` };
  const operations = ["CREATE", "UPDATE", "DELETE"];
  const resourceRules = [{ apiGroups: [group], apiVersions: ["v1"], operations, resources: [plural], scope: "*" }];
  const isOperator = `request.userInfo.username == '${usernameOf(installation)}'`;
  const spec = {
    failurePolicy: "Fail",
    // With what the API server would fill in: this belongs to its appliers as a whole, who must agree on all of it.
    matchConstraints: { matchPolicy: "Equivalent", namespaceSelector: {}, objectSelector: {}, resourceRules },
    matchConditions: [{ name: "the-operator", expression: isOperator }],
    ...rules,
  };
  const binding = { policyName: metadata.name, validationActions: ["Deny"] };
  return [
    { ...api, kind: "ValidatingAdmissionPolicy", metadata, spec },
    { ...api, kind: "ValidatingAdmissionPolicyBinding", metadata, spec: binding },
  ];
}
