import { GROUP } from "../../kinds/index.ts";

export const FINALIZER = `${GROUP}/finalizer`;
/** A creation that was begun: nonce, time, hash of the body, parents. */
export const INTENT = `${GROUP}/intent`;
/** The claimed resource, for a backup that is restored without status. */
export const EXTERNAL_ID = `${GROUP}/external-id`;
export const PAUSED = `${GROUP}/paused`;
export const ALLOW_DATA_LOSS = `${GROUP}/allow-data-loss`;
export const ALLOW_NON_EMPTY_DELETE = `${GROUP}/allow-non-empty-delete`;
/** On a CRD, as "true": the admission policy lets it be deleted. */
export const ALLOW_DELETION = `${GROUP}/allow-deletion`;
/** Any new value: reconcile now, and retry what failed. */
export const RECONCILE_AT = `${GROUP}/reconcile-at`;
/** On a published Secret: its resource, the creation that it answers, and fingerprints. */
export const PUBLISHED = `${GROUP}/published`;
/** On a published Secret, for tools that reload workloads: counts the keys. */
export const KEY_VERSION = `${GROUP}/key-version`;
export const CERTIFICATE_VERSION = `${GROUP}/certificate-version`;
/** The id of a resource that no longer exists: create a new one in its place. */
export const RECREATE = `${GROUP}/recreate`;
/** On an Account: id of the platform user that takes over the resources that others have made through it. */
export const ACCEPT_USER = `${GROUP}/accept-user`;
/** Any new value: make a new key now. */
export const ROTATE_AT = `${GROUP}/rotate-at`;
/** The label by which published Secrets are found. */
export const MANAGED_BY = "app.kubernetes.io/managed-by";
/** On a Namespace: the shard that works on its objects. */
export const SHARD = `${GROUP}/shard`;
/** Prefix of the Secrets in the operator's namespace with the tokens of Accounts that have a password. */
export const KEPT_TOKEN = "mooring-token";
/** On such a Secret: the label by which it is found, as "true", and the annotation with the record of the tokens. */
export const TOKEN_RECORD = `${GROUP}/account-token`;
/** The label of a Secret that an Account uses, as "true": by it changes are noticed. */
export const CREDENTIALS = `${GROUP}/credentials`;
/** The label of what spec.output asked for, as "true": Mooring deletes nothing else that it has published. */
export const OUTPUT = `${GROUP}/output`;

/** The labels and annotations that Mooring reads. */
export const OWN = { prefix: `${GROUP}/`, labels: [MANAGED_BY] } as const;
