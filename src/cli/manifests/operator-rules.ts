import {
  CREDENTIALS,
  EXTERNAL_ID,
  FINALIZER,
  INTENT,
  KEPT_TOKEN,
  MANAGED_BY,
  OUTPUT,
} from "../../engine/state/names.ts";
import { GROUP } from "../../kinds/index.ts";
import { INSTALLATION, SHARED_NAMESPACE } from "../../operator/installation.ts";
import { SIGNING_KEY } from "../../operator/signing-key.ts";
import { type Installation, leasesOf, namespaceOf } from "./rbac.ts";

/** The part of a ValidatingAdmissionPolicy that decides about a write. */
export interface Rules {
  variables?: { name: string; expression: string }[];
  validations: { expression: string; message: string }[];
}

// CEL expressions. Their argument is `object`, the object as it is written, or `oldObject`, as it was before.
const labels = (secret: string) => `${secret}.metadata.?labels.orValue({})`;
const owners = (secret: string) => `${secret}.metadata.?ownerReferences.orValue([])`;
const finalizers = (secret: string) => `${secret}.metadata.?finalizers.orValue([])`;
const isOpaque = (secret: string) => `${secret}.type == 'Opaque'`;
const isLabelled = (written: string) => `${labels(written)}[?'${MANAGED_BY}'] == optional.of('mooring')`;
const isControlled = (written: string) =>
  `${owners(written)}.exists(owner, owner.?controller == optional.of(true) && owner.apiVersion.startsWith('${GROUP}/'))`;
const published = (written: string) => `${isLabelled(written)} && ${isControlled(written)}`;
const isOutput = (written: string) => `${labels(written)}[?'${OUTPUT}'] == optional.of('true')`;
const isToken = (secret: string) => `${secret}.metadata.name.startsWith('${KEPT_TOKEN}-')`;
const same = (field: string) => `object.?${field} == oldObject.?${field}`;
const sameMeta = (field: string) => `object.metadata.?${field} == oldObject.metadata.?${field}`;

/**
 * Secrets: those that it publishes for its objects and its own ones. In all others, only its label and its finalizer.
 */
export function secretRules(installation: Installation): Rules {
  const namespace = namespaceOf(installation);
  // The owner stays the same, and a Secret cannot become an output later, because outputs may be deleted.
  const sameOwnerAndUse = `${sameMeta("ownerReferences")} && ${labels("object")}[?'${OUTPUT}'] == ${labels("oldObject")}[?'${OUTPUT}']`;
  const own = (secret: string) =>
    `${isOpaque(secret)} && ${isLabelled(secret)} && request.namespace == '${namespace}' && (${secret}.metadata.name == '${SIGNING_KEY}' || ${isToken(secret)}) && ${owners(secret)}.size() == 0`;
  return {
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
}

/** ConfigMaps: only those for `spec.output`. The operator controls no others. */
export function configMapRules(): Rules {
  return {
    variables: [
      { name: "output", expression: `${isOutput("object")} && ${published("object")}` },
      { name: "wasOutput", expression: `${isOutput("oldObject")} && ${published("oldObject")}` },
      // The owner reference decides. Removed labels may be restored.
      { name: "wasControlled", expression: isControlled("oldObject") },
    ],
    validations: [
      {
        expression: "request.operation == 'DELETE' || variables.output",
        message: "Mooring writes ConfigMaps only for spec.output, with its labels and for one of its own objects",
      },
      {
        expression:
          "request.operation == 'CREATE' || variables.wasOutput || (request.operation == 'UPDATE' && variables.wasControlled)",
        message: "Mooring changes and deletes only its own ConfigMaps",
      },
      {
        expression: `request.operation != 'UPDATE' || ${sameMeta("ownerReferences")}`,
        message: "A ConfigMap keeps the owner that it was written for",
      },
    ],
  };
}

/** All entries of a field stay the same, except those with these names. */
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

/** Objects of its own kinds: besides status, the operator changes only its finalizer and its annotations. */
export function objectRules(): Rules {
  const fields = { annotations: "{}", labels: "{}", finalizers: "[]", ownerReferences: "[]" };
  const unchanged = [
    "variables.labels == variables.labelsBefore",
    "variables.ownerReferences == variables.ownerReferencesBefore",
    ...othersUnchanged("annotations", [INTENT, EXTERNAL_ID]),
    ...othersUnchanged("finalizers", [FINALIZER]),
  ];
  return {
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
}

/** Leases: its own, one per shard, and the one that marks the installation. */
export function leaseRules(installation: Installation): Rules {
  const leaseNames = leasesOf(installation).map((name) => `'${name}'`);
  const isMarker = `object.metadata.name == '${INSTALLATION}' && request.namespace == '${SHARED_NAMESPACE}'`;
  const isLease = `(object.metadata.name in [${leaseNames.join(", ")}] && request.namespace == '${namespaceOf(installation)}' || ${isMarker})`;
  return {
    validations: [
      { expression: `request.operation != 'DELETE' && ${isLease}`, message: "Mooring writes only its own Leases" },
    ],
  };
}
