import { z } from "zod";
import type { ObjectRef, Reference } from "../desired.ts";
import type { Rule, Rules } from "../kind.ts";
import { ruled, unless, validations } from "./rules.ts";

/**
 * A string that matches one or more patterns. The message of the API server describes the form instead of showing the
 * pattern.
 */
export const formed = (pattern: RegExp, max: number, form: string, ...further: [pattern: RegExp, form: string][]) => {
  const forms: [RegExp, string][] = [[pattern, form], ...further];
  return z
    .string()
    .max(max)
    .superRefine((value, context) => {
      for (const [pattern, form] of forms) if (!pattern.test(value)) context.addIssue(form);
    })
    .meta(
      validations(
        ...forms.map(([{ source }, message]) => ({ rule: `self.matches(${JSON.stringify(source)})`, message })),
      ),
    );
};

/** A path without the folders `.` and `..`: some programs that read a bucket would follow them out of the prefix. */
export const noDotFolders: [pattern: RegExp, form: string] = [
  /^[^/]*(\/([^/.][^/]*|\.[^/.][^/]*|\.\.[^/]+)?)*$/,
  "must not have a folder named '.' or '..'",
];

export const uuid = () =>
  formed(
    /^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/,
    36,
    "must be a UUID, for example 72e73b81-8551-4e74-b398-fc63b39994af",
  ).toLowerCase();

export const lanId = () => formed(/^[1-9][0-9]*$/, 10, "must be the number of a LAN");

/** An id in an answer of the platform. It is safe in a path. */
export const wireId = () =>
  z.string().refine((id) => /^[A-Za-z0-9][\w.-]{0,127}$/.test(id), "is not an id of the platform");

/** An item of the core API: its id, and the properties that the kind reads. */
export const coreItem = <Shape extends z.ZodRawShape>(properties: Shape) =>
  z.object({ id: wireId(), properties: z.object(properties) });

export const line = (max: number) =>
  formed(/^[^\p{Cc}\p{Zl}\p{Zp}]*$/u, max, "must be one line without control characters").min(1);

export const prose = (max: number) => formed(/^([^\p{Cc}]|[\t\r\n])*$/u, max, "must not contain control characters");

export const objectName = () =>
  formed(
    /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/,
    253,
    "must be the name of an object: lower-case letters, digits, '-' and '.', with a letter or digit at both ends",
  );

export const namespaceName = () =>
  formed(
    /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/,
    63,
    "must be the name of a namespace: lower-case letters, digits and '-', with a letter or digit at both ends",
  );

/** A reference to an object of this kind, in the same namespace or in one with a Grant. */
export const objectRef = (kind: string) =>
  z.object({
    name: objectName().describe(`Name of the ${kind}.`),
    namespace: namespaceName()
      .optional()
      .describe(`Namespace of the ${kind}; needs a Grant there. Default: the same namespace.`),
  });

export const secretKey = (kind = "Secret") =>
  formed(/^[A-Za-z0-9._-]+$/, 253, `must be a key of a ${kind}: letters, digits, '-', '_' and '.'`);

export const location = () =>
  formed(/^[a-z]{2}\/[a-z]{3}(\/[0-9]+)?$/, 32, "must be a location <country>/<site>, for example de/txl");

/**
 * A list in spec. It is complete, and an empty list means no members. Server-side apply treats it as atomic: with a
 * list that is merged by key, removing the last member would remove the field, and that means "leave unchanged".
 */
export const list = <M extends z.ZodType>(
  member: M,
  { min = 0, max, unique }: { min?: number; max: number; unique?: "name" | "tag" | "itself" },
) => {
  const key = unique === "itself" ? "" : `.${unique}`;
  const rule = {
    rule: `self.size() < 2 || self.all(each, self.exists_one(other, other${key} == each${key}))`,
    message: unique === "itself" ? "must not contain duplicates" : `${unique} must be unique within the list`,
  };
  const members = z.array(member).max(max);
  return (min > 0 ? members.min(min) : members).meta({
    "x-kubernetes-list-type": "atomic",
    ...(unique && validations(rule)),
  });
};

/** A 32-bit integer between these bounds. */
export const whole = (min: number, max: number) => z.int32().min(min).max(max);

export const memory = () =>
  ruled(whole(256, 235_520), { rule: "self % 256 == 0", message: "ram must be a multiple of 256 MB (0.25 GB)" });

/** Size of a volume in GB, up to the platform's maximum. */
export const volumeSize = () => whole(1, 4096);

export const address = () =>
  ruled(z.string().max(45), {
    rule: "isIP(self) && ip(self).family() == 4",
    message: "must be an IPv4 address, for example 203.0.113.7",
  });

export const platformName = (noun: string, otherwise = "metadata.name") =>
  line(255).optional().describe(`Name of the ${noun} on the platform. Default: ${otherwise}.`);

export const recreatePolicy = z.enum(["WhenDeleted", "WhenMissing", "Never"]);

const recreation = (otherwise: z.output<typeof recreatePolicy>) =>
  recreatePolicy
    .default(otherwise)
    .describe(
      "When to recreate a resource that is no longer on the platform. WhenDeleted: when the platform's log shows its deletion or, without a log, when it has been missing for ten minutes. WhenMissing: when it has been missing for ten minutes. Never: only with the annotation mooring.dev/recreate. With externalId, WhenDeleted is as Never.",
    );

/** For kinds whose resource holds data or an address that a new one would not have: recreated only on request. */
export const irreplaceable = { recreatePolicy: recreation("Never") };

/** Fields of every kind that has a resource on the platform. */
export const managed = {
  accountRef: z
    .object({
      name: objectName().describe("Name of the Account."),
      kind: z
        .enum(["Account", "ClusterAccount"])
        .default("Account")
        .describe("Account (same namespace) or ClusterAccount (must admit the namespace)."),
    })
    .optional()
    .describe(
      "Account to use. Default: the only Account of the namespace, else the default ClusterAccount that admits it.",
    ),
  // The API server accepts only UUIDs. Stored objects with another id can still be read and deleted.
  externalId: wireId()
    .meta({ maxLength: 128, ...uuid().meta() })
    .optional()
    .describe(
      "Id of an existing resource to adopt instead of creating one; fields that it has already need not be set. Can be removed later, not changed.",
    ),
  managementPolicy: z
    .enum(["Manage", "Observe"])
    .default("Manage")
    .describe(
      "Manage reconciles the resource with spec. Observe only reports it and never changes it: the resource in externalId, or the object's own.",
    ),
  replacePolicy: z
    .enum(["Never", "WhenNeeded"])
    .default("Never")
    .describe(
      "How to change fields that cannot be changed in place. Never: the change is refused. WhenNeeded: the resource is deleted and created again. With externalId, nothing is replaced.",
    ),
  recreatePolicy: recreation("WhenDeleted"),
  deletionPolicy: z
    .enum(["Delete", "Retain"])
    .default("Delete")
    .describe("What to do with the resource when the object is deleted: Delete or Retain (keep it)."),
};

const observed = "self.managementPolicy == 'Observe'";

/** Rules of every kind that has a resource on the platform. An object may always name its own resource. */
export const managedRules: Rule[] = [
  {
    rule: "!has(self.externalId) || self.externalId in [oldSelf.?externalId.orValue(''), SHOWN.?id.orValue('')] || SHOWN.?id.orValue('') in [self.externalId.lowerAscii()]",
    message:
      "externalId cannot be set or changed while the object has a resource: create another object for the other resource",
  },
];

/** Rules that do not apply to an object that only observes: its spec may contain nothing but the identity. */
export const whenManaged = (rules: Rules): Rules => unless(observed, rules);

/**
 * Rules that do not apply to an object with an existing resource: spec may omit fields that the platform already has.
 */
export const whenCreated = (rules: Rules): Rules => unless(`has(self.externalId) || ${observed}`, rules);

/** A field that is required unless the resource already exists. */
export const required = (field: string): Rules => ({
  ...whenCreated({ rule: `has(self.${field})`, message: `${field} is required` }),
  requires: field,
});

/** Fields of every kind that lives in a datacenter. */
export const inDatacenter = {
  datacenterRef: objectRef("Datacenter")
    .optional()
    .describe("The Datacenter it belongs to. Exactly one of datacenterRef and datacenterId."),
  datacenterId: uuid()
    .optional()
    .describe("Platform id of the datacenter it belongs to. Exactly one of datacenterRef and datacenterId."),
};

export const datacenterRules: Rule[] = [exactlyOne("datacenterRef", "datacenterId")];

export function datacenterReference(spec: {
  datacenterRef?: ObjectRef | undefined;
  datacenterId?: string | undefined;
}): Reference {
  const target = spec.datacenterId !== undefined ? { id: spec.datacenterId } : (spec.datacenterRef ?? { name: "" });
  return { role: "datacenter", kind: "Datacenter", field: "datacenterRef", target };
}

export const datacenterPath = (parents: Readonly<Record<string, string>>): string =>
  `/datacenters/${encodeURIComponent(parents.datacenter ?? "")}`;

export function exactlyOne(a: string, b: string): Rule {
  return {
    rule: `has(self.${a}) != has(self.${b})`,
    message: `exactly one of ${a} and ${b} is required`,
  };
}
