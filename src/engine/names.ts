import { GROUP } from "../kinds/index.ts";

export const FINALIZER = `${GROUP}/finalizer`;
/** A creation that was begun: nonce, time, hash of the body, parents. */
export const INTENT = `${GROUP}/intent`;
/** The claimed resource, for the day when a backup was restored without status. */
export const EXTERNAL_ID = `${GROUP}/external-id`;
export const PAUSED = `${GROUP}/paused`;
export const ALLOW_DATA_LOSS = `${GROUP}/allow-data-loss`;
export const ALLOW_NON_EMPTY_DELETE = `${GROUP}/allow-non-empty-delete`;
/** Any new value: look at the platform now, and try again what failed. */
export const RECONCILE_AT = `${GROUP}/reconcile-at`;
