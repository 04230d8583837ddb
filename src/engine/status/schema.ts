import { z } from "zod";
import { condition } from "../../kube/write/conditions.ts";
import { author } from "./author.ts";
import type { Group } from "./trust.ts";

const time = z.iso.datetime({ precision: 3 });
const texts = z.record(z.string(), z.string());
const list = <T extends z.ZodType>(item: T) => z.array(item).meta({ "x-kubernetes-list-type": "atomic" }).optional();

/** The status of every object. */
export const sharedStatus = z.object({
  observedGeneration: z.int().optional().describe("Generation of the object that this status describes."),
  conditions: z
    .array(condition)
    .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] })
    .optional()
    .describe("Ready always; Reconciling, Stalled, Paused and ClockSkew only while they hold."),
});

export const keyFacts = z.object({
  version: z.int().describe("Version of the key, counted from 1."),
  issuedAt: time.describe("When the key was created."),
  fingerprint: z.string().describe("First digits of its SHA-256, to tell keys apart."),
  expiresAt: time.optional().describe("When the key expires, if it does."),
});
export type KeyFacts = z.output<typeof keyFacts>;

export const certificateFacts = keyFacts.extend({
  version: z.int().describe("Version of the certificate, counted from 1."),
  issuedAt: time.describe("When it was issued."),
  fingerprint: z.string().describe("Its SHA-256, as openssl x509 -fingerprint -sha256 shows it."),
  serial: z.string().describe("Its serial number."),
  expiresAt: time.describe("When it expires."),
});
export type CertificateFacts = z.output<typeof certificateFacts>;

/** The operator's own state, of no use to people. */
const internalStatus = z.object({
  nonce: z.string().optional().describe("Creation intent that this id, or this refusal, belongs to."),
  revision: z.int().optional().describe("Counts creations and losses of resources. What has a lower one is old."),
  born: z.iso
    .datetime({ offset: true })
    .optional()
    .describe("When the platform created the resource; tells it from a later one with the same id."),
  adoptedAt: z.iso.datetime().optional().describe("When the resource was adopted; absent if the object created it."),
  notBefore: time
    .optional()
    .describe("Until a read confirms the answer to its creation: what is older is not its result."),
  refused: z.string().optional().describe("Id in the answer to a creation that cannot have made it: it is not owned."),
  onlyObserved: z
    .boolean()
    .optional()
    .describe("The object shows the resource, and does not own it: managing it is an adoption."),
  fixed: texts
    .optional()
    .describe("Hashes of the fields that the platform cannot change, and of Secrets and lookups, as they were sent."),
  lossAllowed: z
    .int()
    .optional()
    .describe("Generation for which the annotation mooring.dev/allow-data-loss was last used."),
  signature: z
    .string()
    .optional()
    .describe("Signatures of the operator: of the claim, the request and the rest. What has none is ignored."),
  uses: texts
    .optional()
    .describe(
      "Objects of other namespaces in spec that a Grant allows or has allowed, with the ids of their resources.",
    ),
  left: z.string().optional().describe("Id of the previous resource."),
  leftExternalId: z
    .string()
    .optional()
    .describe("spec.externalId when the previous resource was left: not adopted again."),
});

const request = z.object({
  id: z.string().optional().describe("Id of the request on the platform."),
  url: z.string().optional().describe("URL of the request's status."),
  action: z.string().describe("Action of the request: create, update, delete …"),
  status: z
    .enum(["SENDING", "BUSY", "FAILED"])
    .describe("Status of the request; SENDING until the platform has answered."),
  since: time.describe("When it was sent."),
  by: author.optional().describe("While SENDING: who sends it."),
  call: z.string().optional().describe("Method and path of a write that must not happen twice; used to find it again."),
  hash: z.string().optional().describe("Hash of the body of a write that must not happen twice."),
  after: z.string().optional().describe("While SENDING: id of the last such request before it."),
  nonce: z.string().optional().describe("While SENDING: mark in the Secret that gets its result."),
  marks: texts.optional().describe("Facts about the object once the request is done."),
  corrects: z.boolean().optional().describe("It corrects drift: spec was in effect before."),
});

const previous = z.object({
  id: z.string().describe("Its id on the platform."),
  until: time.describe("When it is deleted, by the platform's clock."),
});

const leftBehind = z.object({
  kind: z.string().describe("Kind of the object that can adopt it."),
  id: z.string().describe("Its id on the platform."),
  parents: texts.describe("Ids of its parents on the platform."),
});

const difference = z.object({
  field: z.string().describe("Field of spec."),
  wanted: z.string().describe("Value in spec."),
  found: z.string().describe("Value on the platform."),
});

/** The further status of an object with a resource on the platform. */
const resourceStatus = z.object({
  id: z.string().optional().describe("Id of the resource on the platform."),
  state: z.string().optional().describe("State of the resource as the platform reports it."),
  account: z.string().optional().describe("The Account in use, as namespace/name, or ClusterAccount/name."),
  parents: texts.optional().describe("Ids of its parents on the platform; used for deletion."),
  contract: z.int().optional().describe("Contract of the resource."),
  userId: z.string().optional().describe("Id of the platform's user who created or adopted the resource."),
  endpoint: z.string().optional().describe("Endpoint that the resource was created at."),
  request: request.optional().describe("Request in progress, or the last one that failed."),
  secretName: z.string().optional().describe("Name of the Secret for workloads."),
  key: keyFacts.optional().describe("The key in that Secret: version and fingerprint, not the key."),
  certificate: certificateFacts.optional().describe("The client certificate in that Secret."),
  expiresIn: z.string().optional().describe("Days until the key or certificate expires, for kubectl get: 30d."),
  previous: previous.optional().describe("The resource before this one, which still works for a while."),
  leftBehind: list(leftBehind).describe(
    "What the previous resource may have left on the platform. It is dropped when it is gone, in use or adopted.",
  ),
  advice: list(z.string().describe("One piece of advice.")).describe(
    "What is allowed but not recommended, has no effect, or is left on the platform, and why.",
  ),
  drift: list(difference).describe("Fields in which the resource differs from spec."),
});

/** The status of an object with a task. */
export const taskStatus = sharedStatus.extend({
  account: resourceStatus.shape.account,
  contract: z.int().optional().describe("Contract whose log is exported."),
  advice: resourceStatus.shape.advice,
  internal: internalStatus
    .pick({ signature: true })
    .optional()
    .describe("Internal state of the operator. Do not rely on it."),
});

/** The engine's fields of a status, with those of `internal` on the top level. */
export const known = sharedStatus.extend(resourceStatus.shape).extend(internalStatus.shape);
export type ResourceStatus = z.output<typeof known>;

/** The same fields as they are stored: the internal ones below `internal`. */
export const storedStatus = z.object({
  ...sharedStatus.shape,
  ...resourceStatus.shape,
  internal: internalStatus.optional().describe("Internal state of the operator. Do not rely on it."),
});

/**
 * The group that a field of a status is signed with: the request, the claim, or the facts that a kind shows. Conditions are not
 * signed, because nothing depends on them.
 */
export function groupOf(field: string): Group | undefined {
  if (field in sharedStatus.shape || field === "signature") return undefined;
  if (field === "request") return "request";
  // A version or a CRD that does not know this field must not void the claim.
  return field in known.shape && field !== "uses" ? "claim" : "facts";
}

/** A stored status with the fields of `internal` on the top level. */
export function flat(status: object): Record<string, unknown> {
  const { internal, ...shown }: { internal?: unknown } = status;
  return { ...Object(internal), ...shown };
}

/** The reverse: the internal fields below `internal`. */
export function nested(status: object): object {
  const entries = Object.entries(status);
  const isInternal = ([name]: [string, unknown]) => name in internalStatus.shape;
  const internal = entries.filter((entry) => isInternal(entry) && entry[1] !== undefined);
  const shown = Object.fromEntries(entries.filter((entry) => !isInternal(entry)));
  return internal.length === 0 ? shown : { ...shown, internal: Object.fromEntries(internal) };
}
