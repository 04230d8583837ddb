import {
  ALLOW_DELETION,
  CREDENTIALS,
  EXTERNAL_ID,
  FINALIZER,
  INTENT,
  KEPT_TOKEN,
  MANAGED_BY,
  OUTPUT,
} from "../../engine/state/names.ts";
import { GROUP } from "../../kinds/index.ts";
import { SPENDING_LABEL, SPENDING_NAMES } from "../../kinds/inference/spending.ts";
import { INSTALLATION, SHARED_NAMESPACE } from "../../operator/installation.ts";
import { SIGNING_KEY } from "../../operator/signing-key.ts";
import type { GatewayInstallation } from "./gateway-rights.ts";
import { clusterNameOf, type Installation, leasesOf, namespaceOf, usernameOf } from "./rbac.ts";

const api = { apiVersion: "admissionregistration.k8s.io/v1" };

/**
 * Limits that RBAC cannot express. With the right to create Secrets, the operator could create one of the type that
 * holds the token of any ServiceAccount; with the right to update them, it could change any Secret. These policies
 * refuse both, only for the operator's ServiceAccount.
 */
export function operatorPolicies(installation: Installation = {}): object[] {
  const namespace = namespaceOf(installation);
  const isLabelled = (written: string) => `${labels(written)}[?'${MANAGED_BY}'] == optional.of('mooring')`;
  const isOpaque = (secret: string) => `${secret}.type == 'Opaque'`;
  const labels = (secret: string) => `${secret}.metadata.?labels.orValue({})`;
  const owners = (secret: string) => `${secret}.metadata.?ownerReferences.orValue([])`;
  const same = (field: string) => `object.?${field} == oldObject.?${field}`;
  const sameMeta = (field: string) => `object.metadata.?${field} == oldObject.metadata.?${field}`;
  const finalizers = (secret: string) => `${secret}.metadata.?finalizers.orValue([])`;
  const isControlled = (written: string) =>
    `${owners(written)}.exists(owner, owner.?controller == optional.of(true) && owner.apiVersion.startsWith('${GROUP}/'))`;
  const published = (written: string) => `${isLabelled(written)} && ${isControlled(written)}`;
  const isOutput = (written: string) => `${labels(written)}[?'${OUTPUT}'] == optional.of('true')`;
  // The owner stays the same, and a Secret cannot become an output later, because outputs may be deleted.
  const sameOwnerAndUse = `${sameMeta("ownerReferences")} && ${labels("object")}[?'${OUTPUT}'] == ${labels("oldObject")}[?'${OUTPUT}']`;
  const isToken = (secret: string) => `${secret}.metadata.name.startsWith('${KEPT_TOKEN}-')`;
  const own = (secret: string) =>
    `${isOpaque(secret)} && ${isLabelled(secret)} && request.namespace == '${namespace}' && (${secret}.metadata.name == '${SIGNING_KEY}' || ${isToken(secret)}) && ${owners(secret)}.size() == 0`;
  const secrets = {
    variables: [
      { name: "published", expression: `${isOpaque("object")} && ${published("object")}` },
      { name: "wasPublished", expression: `${isOpaque("oldObject")} && ${published("oldObject")}` },
      // The owner reference decides. A removed label may be restored.
      { name: "wasControlled", expression: `${isOpaque("oldObject")} && ${isControlled("oldObject")}` },
      { name: "own", expression: own("object") },
      { name: "wasOwn", expression: own("oldObject") },
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
      // Secrets that may get the finalizer. A policy cannot find out which ones Accounts name, so it excludes types
      // that Accounts never use: certificates, Helm releases and bootstrap tokens.
      {
        name: "mayBeHeld",
        expression: `!('${FINALIZER}' in ${finalizers("object")}) || '${FINALIZER}' in ${finalizers("oldObject")} || object.type == 'kubernetes.io/basic-auth' || !object.type.matches('^(bootstrap[.])?kubernetes[.]io/|^helm[.]sh/')`,
      },
    ],
    validations: [
      {
        expression: "request.operation != 'CREATE' || variables.published || variables.own",
        message: "Mooring creates only Secrets of type Opaque, with its label and for one of its own objects",
      },
      {
        expression: [
          "request.operation != 'UPDATE'",
          "variables.onlyMarks && variables.mayBeHeld",
          `variables.wasControlled && variables.published && ${sameOwnerAndUse}`,
          "variables.wasOwn && variables.own",
        ].join(" || "),
        message: "Mooring changes only its label and its finalizer in a Secret that is not its own",
      },
      {
        expression: `request.operation != 'DELETE' || (variables.wasPublished && ${isOutput("oldObject")}) || (variables.wasOwn && ${isToken("oldObject")})`,
        message: "Mooring deletes only Secrets that it wrote for spec.output, and the tokens of its Accounts",
      },
    ],
  };
  const configMaps = {
    variables: [
      { name: "output", expression: `${isOutput("object")} && ${published("object")}` },
      { name: "wasOutput", expression: `${isOutput("oldObject")} && ${published("oldObject")}` },
    ],
    validations: [
      {
        expression: "request.operation == 'DELETE' || variables.output",
        message: "Mooring writes ConfigMaps only for spec.output, with its labels and for one of its own objects",
      },
      {
        expression: `request.operation == 'CREATE' || variables.wasOutput`,
        message: "Mooring changes and deletes only its own ConfigMaps",
      },
      {
        expression: `request.operation != 'UPDATE' || ${sameMeta("ownerReferences")}`,
        message: "A ConfigMap keeps the owner that it was written for",
      },
    ],
  };
  /** Besides status, the operator changes only its finalizer and its annotations: all other entries stay the same. */
  const othersUnchanged = (field: "annotations" | "finalizers", names: string[]) => {
    const isOwn = `name in [${names.map((name) => `'${name}'`).join(", ")}]`;
    const isSame = (a: string, b: string) => (field === "finalizers" ? `name in ${b}` : `${b}[?name] == ${a}[?name]`);
    const [now, before] = [`variables.${field}`, `variables.${field}Before`] as const;
    return [
      [now, before],
      [before, now],
    ].map(([a = "", b = ""]) => `${a}.all(name, ${isOwn} || ${isSame(a, b)})`);
  };
  // After the last entry is removed, the API server shows the field of a custom resource as null.
  const entries = (object: string, field: string, none: string) =>
    `${object}.metadata.?${field}.orValue(null) == null ? ${none} : ${object}.metadata.${field}`;
  const fields = { annotations: "{}", labels: "{}", finalizers: "[]", ownerReferences: "[]" };
  const unchanged = [
    "variables.labels == variables.labelsBefore",
    "variables.ownerReferences == variables.ownerReferencesBefore",
    ...othersUnchanged("annotations", [INTENT, EXTERNAL_ID]),
    ...othersUnchanged("finalizers", [FINALIZER]),
  ];
  const objects = {
    variables: Object.entries(fields).flatMap(([field, none]) => [
      { name: field, expression: entries("object", field, none) },
      { name: `${field}Before`, expression: entries("oldObject", field, none) },
    ]),
    validations: [
      {
        expression: "request.operation == 'UPDATE'",
        message: "Mooring creates and deletes no objects of its own kinds",
      },
      {
        expression: `request.operation != 'UPDATE' || ${[same("spec"), ...unchanged].join(" && ")}`,
        message: "Mooring changes only status, its finalizer and its annotations in objects of its own kinds",
      },
    ],
  };
  const leaseNames = leasesOf(installation).map((name) => `'${name}'`);
  const isMarker = `object.metadata.name == '${INSTALLATION}' && request.namespace == '${SHARED_NAMESPACE}'`;
  const isLease = `(object.metadata.name in [${leaseNames.join(", ")}] && request.namespace == '${namespace}' || ${isMarker})`;
  const leases = {
    validations: [
      { expression: `request.operation != 'DELETE' && ${isLease}`, message: "Mooring writes only its own Leases" },
    ],
  };
  return [
    ...ofOperator(installation, "secrets", "", secrets),
    ...ofOperator(installation, "configmaps", "", configMaps),
    ...ofOperator(installation, "leases", "coordination.k8s.io", leases),
    ...ofOperator(installation, "objects", GROUP, objects, "*"),
  ];
}

/**
 * Deleting a CRD deletes all of its objects and their resources on the platform. The policy applies to everybody. There
 * is one per cluster, like the CRDs.
 */
export function crdPolicy(): object[] {
  const allowed = `oldObject.metadata.?annotations.orValue({})[?'${ALLOW_DELETION}'] == optional.of('true')`;
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

function ofOperator(installation: Installation, title: string, group: string, rules: object, plural = title) {
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
