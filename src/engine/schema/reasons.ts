/**
 * Why an object is as it is: the closed list of reasons in conditions and Events. `kubectl wait`, alerts and people
 * rely on these words; each says in its line what a reader can do.
 */
export const reasons = {
  Pending: "The operator has not looked at the object yet.",
  Available: "The resource is as spec says. Nothing to do.",
  Creating: "The platform is building the resource. Wait.",
  Updating: "The platform is changing the resource. Wait.",
  Replacing: "A field that cannot be changed in place has changed: the resource is deleted and created again. Wait.",
  Deleting: "The platform is removing the resource. Wait.",
  Recovering: "A creation ended without an answer; the operator looks for its result before it does anything. Wait.",
  Adopting: "An existing resource is taken over (spec.externalId); its differences from spec are shown first. Wait.",
  Observed: "The resource is only shown (managementPolicy: Observe).",
  Observing: "The operator has no fresh view of the resource yet. Wait.",
  Paused: "The annotation mooring.dev/paused is set. Remove it to go on.",
  Retained: "The object is gone, the resource stays (deletionPolicy: Retain).",
  Created: "The platform accepted the creation.",
  CertificateIssued: "A new client certificate is in the Secret; the one before works until it ends.",
  InvalidCertificate:
    "The platform gave out a certificate that cannot be used. It was not published; the operator asks again.",
  InvalidAnswer:
    "The platform told something that cannot go safely into a file of the Secret. Nothing was written; the operator tries again.",
  KeyIssued: "A new key is in the Secret; one from before no longer works. Reload what uses it.",
  Updated: "The platform accepted a change.",
  Deleted: "The resource is gone from the platform.",
  Vanished: "The resource disappeared from the platform without Mooring; it is created again.",
  Claimed: "A resource whose creation was interrupted was found and taken over.",
  Advice: "Spec asks for something that is allowed and yet not wise. The message says why.",
  InvalidSpec: "A field of spec is wrong in a way that the API server cannot see. Correct it.",
  ReferenceNotFound: "An object that spec names does not exist. Create it or correct the name.",
  ParentNotFound: "The platform has not what the resource is to live in. Correct the id, or create what is missing.",
  ReferenceNotReady: "An object that spec names has no resource yet. Wait, or look at that object.",
  ReferenceNotGranted:
    "Spec names an object of another namespace, and no Grant there admits that. Ask for a Grant, or name another object.",
  SecretNotFound: "A Secret that spec names, or its key, does not exist. Create it or correct the name.",
  SecretNotOwned:
    "The Secret to be written exists and belongs to somebody else. Choose another spec.secretName, or delete the Secret.",
  SecretNotWritable: "The Secret cannot be written at present. The message says why; the operator tries again.",
  AccountNotFound: "No Account can be chosen. Create one, or name one in spec.accountRef.",
  AccountNotAllowed:
    "The ClusterAccount does not exist, or does not admit this kind in this namespace. Ask the administrator, or use an Account.",
  AccountNotReady: "The Account does not work at present. Look at the Account.",
  CredentialsMissing: "The Secret of the Account has no token. Create the Secret with the key.",
  Unauthorized: "The platform refuses the token. Put a valid token into the Secret.",
  Forbidden: "The user lacks a privilege on the platform. Grant it.",
  ContractChanged: "The Account works in another contract than the resource belongs to. Give it the former token.",
  AccountMoved:
    "The Account leads to another address than the one where the resource is. Change the Account back, or leave the resource there.",
  SigningKeyUnknown:
    "What the object owns is signed with a key that the operator does not have. Put the signing key back, or create the object again with spec.externalId.",
  NamespaceTerminating: "The namespace is being deleted: nothing new is made in it. Wait.",
  EndpointInvalid: "The address of the Account does not answer like the platform. Correct spec.endpoints.",
  EndpointNotAllowed:
    "The operator does not allow an address of the Account. Remove it from spec.endpoints, or have it allowed (--allow-endpoint).",
  Rejected: "The platform refuses the request. Correct the field that the message names.",
  QuotaExceeded: "The contract's limit is reached. Free something or have the limit raised.",
  RateLimited: "The platform asks to slow down. Wait.",
  PlatformUnavailable: "The platform does not answer properly. Wait; the operator tries again.",
  ProvisioningFailed: "The platform accepted the request and failed at it. The message is the platform's.",
  NotAdoptable:
    "The resource that spec.externalId names does not exist here or belongs to another object. Correct the id.",
  NotYours:
    "Through a ClusterAccount an id leads only to what objects of the same namespace own. Name an object instead.",
  OnlyOne:
    "There can be only one such resource in its place, and another object has it. Delete one of the two objects.",
  ImmutableFieldChanged:
    "A field that the platform cannot change has changed. Change it back, or set replacePolicy: WhenNeeded.",
  DataLossNotAllowed:
    'The replacement would lose data. Set the annotation mooring.dev/allow-data-loss: "true" to allow it.',
  NotEmpty:
    'The resource holds others that would be lost. Delete them first, or set mooring.dev/allow-non-empty-delete: "true".',
  Drifted: "The resource differs from spec in a way that the platform cannot change in place.",
  Ambiguous: "More resources match an interrupted creation than there can be. Delete the surplus ones by hand.",
  InUse: "Other objects still need this one. It goes when they are gone.",
  InternalError: "The operator stumbled over this object. Please report it with the operator's log.",
} as const;

export type Reason = keyof typeof reasons;

/** What passes by itself, or with what others are about to bring: an object waits (Reconciling). */
const passing: ReadonlySet<Reason> = new Set([
  "Pending",
  "Creating",
  "Updating",
  "Replacing",
  "Deleting",
  "Recovering",
  "Adopting",
  "Observing",
  "Vanished",
  "ReferenceNotFound",
  "ReferenceNotReady",
  "SecretNotFound",
  "SecretNotWritable",
  "AccountNotFound",
  "AccountNotReady",
  "NamespaceTerminating",
  "RateLimited",
  "PlatformUnavailable",
  "InUse",
  "InternalError",
]);

/** Whether somebody has to act on an object that is not Ready for this reason (Stalled). */
export const needsPerson = (reason: Reason): boolean => !passing.has(reason);

/** Something that keeps the object from going on. */
export interface Obstacle {
  reason: Reason;
  message: string;
}
