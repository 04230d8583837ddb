import { isSameAnswer } from "../../platform/answers/varying.ts";

/** Reasons that pass by themselves, or when another object is ready: the object waits (Reconciling). */
const passing = {
  Pending: "The operator has not reconciled the object yet. Wait.",
  Creating: "The platform is creating the resource. Wait.",
  Updating: "The platform is changing the resource. Wait.",
  Replacing: "A field that cannot be changed in place has changed; the resource is deleted and created again. Wait.",
  Deleting: "The resource, or what has to be deleted before it, is being deleted. Wait.",
  Recovering: "A creation got no answer; the operator searches for its result before it does anything else. Wait.",
  Adopting: "An existing resource is being adopted (spec.externalId); its differences from spec are shown first. Wait.",
  Observing: "The operator has not read the current state of the resource yet. Wait.",
  Vanished: "The resource was deleted outside Mooring, or with what it was in; it is created again.",
  ListTooLarge: "The platform has more such resources than one list may have. Each is read by itself. Wait.",
  CatchingUp: "Entries of the past are being exported. Wait.",
  DestinationUnavailable: "The destination does not answer, or answers with an error. Wait; the operator tries again.",
  ReferenceNotFound: "An object that spec names does not exist. Create it or correct the name.",
  ReferenceNotReady: "An object that spec names has no resource yet. Wait, or check that object.",
  SecretNotFound: "A Secret that spec names, or its key, does not exist. Create it or correct the name.",
  SecretChanged:
    "Somebody changed or deleted a published Secret; the operator puts it right. The message says what was lost. Wait, and find out who changes it.",
  AwaitingGarbageCollection:
    "The Secret or ConfigMap of a deleted object of the same name still exists. Wait until Kubernetes has deleted it.",
  AccountNotFound:
    "There is no Account, or there are several, and spec names none. Create one, or set spec.accountRef.name.",
  AccountNotReady: "The Account is not Ready. Check the Account.",
  NamespaceTerminating: "The namespace is being deleted; nothing is created in it. Wait.",
  RateLimited: "The platform asks to slow down. Wait.",
  KubernetesUnavailable: "The Kubernetes API server did not answer a read. Wait; the operator tries again.",
  PlatformUnavailable: "The platform does not answer, or answers with an error. Wait; the operator tries again.",
  InternalError: "Reconciling this object failed unexpectedly. Report it with the operator's log.",
};

/** All other reasons: of objects that are Ready or need a person (Stalled), and of Events. */
const lasting = {
  Available: "The resource is up to date. Nothing to do.",
  Observed: "The resource is observed and never changed (managementPolicy: Observe).",
  Paused:
    "The annotation mooring.dev/paused is true, yes or 1, or has a value that is not understood. Remove it to resume.",
  ClockSkew:
    "The clocks of the platform and of the operator differ by more than a minute. Correct the clock of the operator's node, for example by NTP.",
  Retained: "The object was deleted and the resource kept (deletionPolicy: Retain).",
  Created: "The resource was created on the platform.",
  CertificateIssued: "A new client certificate is in the Secret; the previous one works until it expires.",
  InvalidCertificate: "The platform returned an invalid certificate. It was not published; the operator tries again.",
  InvalidAnswer:
    "The platform returned a value that is not safe to write into a file of the Secret. Nothing was written; the operator tries again.",
  OutputCreated: "The Secret or ConfigMap of spec.output was created.",
  KeyIssued: "A new key is in the Secret; the previous one no longer works. Reload the workloads that use it.",
  Updated: "The platform accepted a change.",
  DriftCorrected: "The resource was changed outside Mooring, and Mooring changed it back. The message has the values.",
  Deleted: "The resource was deleted from the platform.",
  Missing:
    "The resource is not found on the platform, and nothing shows that it was deleted. No other one is created. Wait, or set the annotation mooring.dev/recreate to its id.",
  DeletedExternally:
    "The resource was deleted outside Mooring, and recreatePolicy is Never, or spec has externalId and need not say all that it was. Set the annotation mooring.dev/recreate to its id for a new one.",
  Claimed: "The resource of an interrupted creation was found; the object owns it now.",
  Advice: "Spec asks for something that is allowed but not recommended. The message says why.",
  InvalidSpec: "A field of spec is invalid in a way that the API server cannot check. Correct it.",
  HistoryLost:
    "The platform deleted entries, after 35 days, before they were exported. The message names the gap; the export continues after it.",
  DestinationRefused: "The destination refuses what is sent to it. Correct spec.destination, or its Secret.",
  ParentNotFound: "The parent of the resource does not exist on the platform. Correct the id, or create the parent.",
  ReferenceNotGranted:
    "Spec names an object of another namespace, and no Grant there allows it. Ask for a Grant, or name another object.",
  SecretNotOwned: "The Secret to be written already exists and belongs to another owner. Change its name in spec.",
  SecretNotWritable: "The API server refuses to write the Secret. The message says why: change that.",
  ObjectNotWritable:
    "The API server refuses to write the object, so its status is old. The message says why: change that.",
  ConfigMapNotOwned:
    "The ConfigMap to be written already exists and belongs to another owner. Change spec.output.configMapName.",
  ConfigMapNotWritable: "The API server refuses to write the ConfigMap. The message says why: change that.",
  AccountNotAllowed:
    "The ClusterAccount does not exist, or does not admit this kind in this namespace. Ask the administrator, or use an Account.",
  CredentialsMissing: "The Secret of the Account, or its key, does not exist. Create it with the platform's token.",
  Unauthorized: "The platform refuses the token. Update the Secret with a valid one.",
  Forbidden: "The user lacks a privilege on the platform. Grant it.",
  UserChanged:
    "The token of the Account belongs to another user than the one who created the resource. Restore a token of that user, or set the annotation mooring.dev/accept-user on the Account.",
  ContractChanged:
    "The token of the Account belongs to another contract than the resource. Restore the previous token.",
  AccountMoved:
    "The Account now points to another address than the resource was created at. Change the Account back, or delete the object with deletionPolicy: Retain.",
  SigningKeyUnknown:
    "The object's ownership is signed with a key that the operator does not have. Restore the signing key, or create the object again with spec.externalId.",
  EndpointInvalid: "The endpoint of the Account is missing or is not the platform's. Correct spec.endpoints.",
  EndpointNotAllowed:
    "The operator does not allow an endpoint of the Account. Remove it from spec.endpoints, or ask the administrator to allow it (--allow-endpoint).",
  Rejected: "The platform rejected the request. Correct the field in the message.",
  QuotaExceeded: "A limit of the contract is reached. Have the limit raised, or use less.",
  TooManyObjects:
    "The namespace has more objects of this kind than allowed; the oldest ones work. Have the administrator raise the limit (--limit), or delete some; deletionPolicy: Retain keeps their resources.",
  ProvisioningFailed:
    "The platform accepted the request and failed. The message is the platform's; the operator tries again.",
  NotApplied:
    "The platform accepted a change several times and does not show it. The message has both values: check the resource, or change spec. The operator tries again ever more rarely.",
  NotAdoptable:
    "The resource in spec.externalId does not exist, belongs to another object, or differs from spec in a field that cannot be changed. Correct the id or the field; the resource is left as it is.",
  AlreadyExists:
    "The platform has a resource of this name that the same user created and no object owns: the object may come from a backup. Or the platform answered the creation with a resource that it cannot have made. Adopt the right one with spec.externalId, or set the annotation mooring.dev/recreate to its id to create another one.",
  NotYours: "With a ClusterAccount, an id must belong to an object of the same namespace. Name an object instead.",
  OnlyOne: "Only one such object is allowed here, and there is another. This one has no resource and can be deleted.",
  ImmutableFieldChanged:
    "A field that the platform cannot change differs from the resource. Change it back, or to the value on the platform if the message has one: that keeps the resource. Else set replacePolicy: WhenNeeded, which deletes the resource with its data and creates a new one; with externalId, complete spec and remove externalId first.",
  DataLossNotAllowed:
    'The replacement would lose data. Set the annotation mooring.dev/allow-data-loss: "true" to allow it.',
  NotEmpty:
    'The resource contains others that would be deleted with it. To keep all of them, change spec back (for a replacement) or set deletionPolicy: Retain (for a deletion). Else delete them first, or set mooring.dev/allow-non-empty-delete: "true", which deletes them as well.',
  Drifted:
    "The resource differs from spec in a field that cannot be changed in place. Change spec to the value on the platform, which is in the message.",
  Ambiguous:
    "More resources match an interrupted creation than were requested. Adopt those that are in use with objects of their own (spec.externalId, with deletionPolicy: Retain), and delete those that nobody needs.",
  InUse:
    "Other objects still use this one; it is deleted after them. To keep the resource, change spec back (for a replacement) or set deletionPolicy: Retain (for a deletion), which releases the object now.",
};

/**
 * Why an object is as it is: the closed list of reasons in conditions and Events. `kubectl wait`, alerts and people
 * rely on these words; each says in its line what a reader can do.
 */
export const reasons = { ...passing, ...lasting };

export type Reason = keyof typeof reasons;
export const isReason = (word: string): word is Reason => Object.hasOwn(reasons, word);

/** Reasons with which the API server accepts a change of immutable fields: the resource differs from spec already. */
export const correctable: readonly Reason[] = ["ImmutableFieldChanged", "DataLossNotAllowed", "Drifted"];

/** Whether somebody has to act on an object that is not Ready for this reason (Stalled). */
export const needsPerson = (reason: Reason): boolean => !Object.hasOwn(passing, reason);

/**
 * Reasons whose message quotes the answer of a host, with ids and times that differ in each answer. In any other message, also
 * that of a rejected request, a different id or time may matter to the reader.
 */
const answered: ReadonlySet<string> = new Set<Reason>([
  "Unauthorized",
  "AccountNotReady",
  "ReferenceNotReady",
  "Forbidden",
  "PlatformUnavailable",
  "KubernetesUnavailable",
  "DestinationUnavailable",
]);

/** Whether two conditions or obstacles say the same, apart from what differs between two answers of a host. */
export const isSaidAgain = (before: Said | undefined, now: Said | undefined): boolean =>
  before?.reason === now?.reason &&
  (before?.message === now?.message || (answered.has(`${now?.reason}`) && isSameAnswer(before?.message, now?.message)));

type Said = { reason: string; message: string };

/** Why an object cannot go on. */
export interface Obstacle {
  reason: Reason;
  message: string;
}
