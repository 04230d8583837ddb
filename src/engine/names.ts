import { GROUP } from "../kinds/index.ts";

export const FINALIZER = `${GROUP}/finalizer`;
/** A creation that was begun: nonce, time, hash of the body, parents. */
export const INTENT = `${GROUP}/intent`;
/** The claimed resource, for the day when a backup was restored without status. */
export const EXTERNAL_ID = `${GROUP}/external-id`;
export const PAUSED = `${GROUP}/paused`;
/** Any new value: look at the platform now, and try again what failed. */
export const RECONCILE_AT = `${GROUP}/reconcile-at`;
