import type { Reason } from "../../engine/status/reasons.ts";

/** The guide that has more about a reason. */

/** A title and a page of docs/, with the heading. */
type Guide = readonly [title: string, page: string];

const accounts: Guide = ["Accounts", "guides/accounts.md#troubleshooting"];
const refusals: Guide = ["when the platform refuses", "guides/life-cycle.md#when-the-platform-refuses"];
const replacing: Guide = ["replacing", "guides/life-cycle.md#replacing"];
const missing: Guide = ["missing resources", "guides/life-cycle.md#missing-resources"];
const deleting: Guide = ["deleting", "guides/life-cycle.md#deleting"];
const adopting: Guide = ["adopting existing resources", "guides/life-cycle.md#adopting-existing-resources"];
const crash: Guide = ["after a crash", "guides/life-cycle.md#after-a-crash"];
const grants: Guide = ["using objects of another namespace", "guides/accounts.md#using-objects-of-another-namespace"];
const secrets: Guide = ["edited Secrets", "operations.md#edited-secrets"];

export const guides: Readonly<Partial<Record<Reason, Guide>>> = {
  AccountMoved: ["from the simulator to a contract", "guides/accounts.md#from-the-simulator-to-a-contract"],
  AccountNotAllowed: accounts,
  AccountNotFound: ["which Account an object uses", "guides/accounts.md#which-one-an-object-uses"],
  AccountNotReady: accounts,
  Adopting: adopting,
  AlreadyExists: ["what a backup does not know", "backup.md#what-a-backup-does-not-know"],
  Ambiguous: crash,
  ClockSkew: ["clocks", "operations.md#clocks"],
  ContractChanged: refusals,
  CredentialsMissing: accounts,
  DataLossNotAllowed: replacing,
  DeletedExternally: missing,
  Deleting: deleting,
  DriftCorrected: ["drift", "guides/life-cycle.md#drift"],
  EndpointInvalid: ["endpoints", "endpoints.md#which-platform"],
  EndpointNotAllowed: ["endpoints", "endpoints.md#which-endpoints-may-be-used"],
  Forbidden: ["privileges", "guides/privileges.md"],
  HistoryLost: ["keeping the log", "guides/audit.md#keeping-the-log"],
  ImmutableFieldChanged: replacing,
  InUse: deleting,
  Missing: missing,
  NotAdoptable: adopting,
  NotApplied: refusals,
  NotEmpty: deleting,
  NotYours: ["one contract for many namespaces", "guides/accounts.md#one-contract-for-many-namespaces"],
  Observed: ["observing", "guides/life-cycle.md#observing"],
  Paused: ["pausing", "guides/life-cycle.md#pausing"],
  ProvisioningFailed: refusals,
  QuotaExceeded: refusals,
  Recovering: crash,
  ReferenceNotGranted: grants,
  Rejected: refusals,
  Replacing: replacing,
  Retained: deleting,
  SecretChanged: secrets,
  SecretNotOwned: secrets,
  SigningKeyUnknown: ["when the signing key is lost", "backup.md#when-the-signing-key-is-lost"],
  TooManyObjects: ["limits", "operations.md#limits"],
  Unauthorized: accounts,
  UserChanged: refusals,
  Vanished: missing,
};
