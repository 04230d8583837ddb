import { z } from "zod";
import { condition } from "../../kube/conditions.ts";

/** What every object shows, whatever its kind. */
export const sharedStatus = z.object({
  observedGeneration: z.int().optional().describe("The generation of the object that this status speaks of."),
  conditions: z
    .array(condition)
    .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] })
    .optional()
    .describe("Ready always; Reconciling, Stalled and Paused only while they hold."),
});

/** All that is shown of a key. */
export const keyFacts = z.object({
  version: z.int().describe("Counts the keys that the object has had."),
  issuedAt: z.iso.datetime({ precision: 3 }).describe("When the key was made."),
  fingerprint: z.string().describe("The beginning of its SHA-256: tells two keys apart, and gives none away."),
});
export type KeyFacts = z.output<typeof keyFacts>;

/** All that is shown of a certificate. */
export const certificateFacts = keyFacts.extend({
  version: z.int().describe("Counts the certificates of this resource."),
  issuedAt: z.iso.datetime({ precision: 3 }).describe("From when on it is valid."),
  fingerprint: z.string().describe("Its SHA-256, as openssl x509 -fingerprint -sha256 shows it."),
  serial: z.string().describe("Its serial number."),
  expiresAt: z.iso.datetime({ precision: 3 }).describe("When it ends."),
});
export type CertificateFacts = z.output<typeof certificateFacts>;

/** What the operator keeps for itself: nothing in it helps a reader. */
const internalStatus = z.object({
  nonce: z.string().optional().describe("The creation intent that this id, or this refusal, answers."),
  born: z.iso
    .datetime({ offset: true })
    .optional()
    .describe("When the platform made the resource; tells it from a later one that was given its id."),
  fixed: z
    .record(z.string(), z.string())
    .optional()
    .describe("Hashes of the fields that the platform cannot change, as they were when the resource was created."),
  lossAllowed: z
    .int()
    .optional()
    .describe("The generation for which the annotation mooring.dev/allow-data-loss was used last."),
  signature: z
    .string()
    .optional()
    .describe("Shows that the operator wrote what this status says of the resource: it counts only with it."),
  left: z.string().optional().describe("Id of the resource before this one, which is gone or was left as it was."),
});

/** What an object with a resource on the platform shows besides. */
const resourceStatus = z.object({
  id: z.string().optional().describe("Id of the resource on the platform."),
  state: z.string().optional().describe("State of the resource, in the platform's own word."),
  account: z.string().optional().describe("The Account in use, as namespace/name, or ClusterAccount/name."),
  parents: z
    .record(z.string(), z.string())
    .optional()
    .describe("Ids of the parents it was created under; deletion works from these."),
  contract: z.int().optional().describe("The contract that the resource belongs to."),
  endpoint: z.string().optional().describe("The address of the platform that the resource was created through."),
  request: z
    .object({
      id: z.string().optional().describe("Id of the request on the platform."),
      url: z.string().optional().describe("Where the status of the request is read."),
      action: z.string().describe("What was asked for: create, update, delete …"),
      status: z
        .enum(["SENDING", "BUSY", "FAILED"])
        .describe("How the request stands; SENDING until the platform has answered."),
      since: z.iso.datetime({ precision: 3 }).describe("When it was sent."),
      call: z
        .string()
        .optional()
        .describe("Of a write that must not happen twice: method and path, by which it is found again."),
      hash: z.string().optional().describe("Of a write that must not happen twice: hash of the body."),
      after: z.string().optional().describe("While SENDING: id of the latest such request that was sent before it."),
      nonce: z.string().optional().describe("While SENDING: what the Secret with its result carries as well."),
      marks: z
        .record(z.string(), z.string())
        .optional()
        .describe("What is true of the object once the request is done."),
    })
    .optional()
    .describe("The request that the platform works on, or the one that failed."),
  secretName: z.string().optional().describe("The Secret that holds what workloads need."),
  key: keyFacts.optional().describe("The key in that Secret, without the key itself."),
  certificate: certificateFacts.optional().describe("The client certificate in that Secret."),
  advice: z
    .array(z.string().describe("One piece of advice."))
    .meta({ "x-kubernetes-list-type": "atomic" })
    .optional()
    .describe("What is allowed in spec and yet not wise, and why."),
  drift: z
    .array(
      z.object({
        field: z.string().describe("The field of spec."),
        wanted: z.string().describe("What spec says."),
        found: z.string().describe("What the platform has."),
      }),
    )
    .meta({ "x-kubernetes-list-type": "atomic" })
    .optional()
    .describe("Where the resource differs from spec."),
});

/** The engine's part of status, wherever a field stands in the object. */
export const known = sharedStatus.extend(resourceStatus.shape).extend(internalStatus.shape);
export type ResourceStatus = z.output<typeof known>;

const former = Object.entries(internalStatus.shape).map(([name, field]) => {
  return [name, field.describe(`Former place of internal.${name}, where it is moved with the next write.`)] as const;
});

/** The same as objects have it. What an earlier version wrote has to stay readable: the API server drops what it has no field for. */
export const storedStatus = z.object({
  ...sharedStatus.shape,
  ...resourceStatus.shape,
  internal: internalStatus.optional().describe("What the operator keeps for itself. Do not rely on it."),
  ...Object.fromEntries(former),
});

/** What a status says, wherever it stands. */
export function flat(status: object): Record<string, unknown> {
  const { internal, ...shown }: { internal?: unknown } = status;
  return { ...Object(internal), ...shown };
}

/** A status with everything in its place. */
export function placed(status: object): object {
  const entries = Object.entries(status);
  const isInternal = ([name]: [string, unknown]) => name in internalStatus.shape;
  const internal = entries.filter((entry) => isInternal(entry) && entry[1] !== undefined);
  const shown = Object.fromEntries(entries.filter((entry) => !isInternal(entry)));
  return internal.length === 0 ? shown : { ...shown, internal: Object.fromEntries(internal) };
}
