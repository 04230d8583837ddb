import type { KubeObject } from "../../kube/resource.ts";
import { withoutVarying } from "../../platform/answers/varying.ts";
import { isReason, needsPerson, type Reason } from "../status/reasons.ts";
import { readyOf } from "../status/status.ts";

/** Nothing is known yet, or it passes within moments: not worth a word in the status of another object. */
const SILENT: ReadonlySet<string> = new Set<Reason>(["Pending", "Observing"]);
/** The platform works on it: the message says what, and stays the same until that is over. */
const WORKING: ReadonlySet<string> = new Set<Reason>(["Creating", "Updating", "Replacing", "Deleting"]);
/** These wait for a person, although nothing is stalled. */
const LASTING: ReadonlySet<string> = new Set<Reason>(["ReferenceNotFound", "AccountNotFound", "SecretNotFound"]);

/** So much of another object's message is quoted. */
const LONGEST = 300;
const quoted = / to be Ready: (\w+)/g;

const isTrouble = (reason: string): boolean => LASTING.has(reason) || (isReason(reason) && needsPerson(reason));

/** What keeps an object from being Ready until somebody acts, by itself or through what it waits for; the same for as long as that lasts. */
export function troubleOf(object: KubeObject): string | undefined {
  const { status, reason = "", message = "" } = readyOf(object) ?? {};
  if (status === "True") return undefined;
  const last = reason === "ReferenceNotReady" ? [...message.matchAll(quoted)].at(-1)?.[1] : undefined;
  if (!isTrouble(reason) && !(last !== undefined && isTrouble(last))) return undefined;
  return `${reason}: ${withoutVarying(untilRetry(message))}`;
}

/** When it is tried again is its own affair, and changes with each attempt. */
const untilRetry = (message: string): string => message.replace(/; next attempt at .*$/, "");

/** What an object says that waits for another one to be Ready: why that one is not, as far as it tells. */
export function waitingFor(title: string, found: KubeObject): string {
  const { status, reason = "", message = "" } = readyOf(found) ?? {};
  const plain = `waiting for ${title} to be Ready`;
  if (status === undefined || status === "True" || SILENT.has(reason)) return plain;
  const isSteady = WORKING.has(reason) || troubleOf(found) !== undefined;
  if (!isSteady) return reason === "ReferenceNotReady" ? plain : `${plain}: ${reason}`;
  const why = untilRetry(message);
  return `${plain}: ${reason}: ${why.length > LONGEST ? `${why.slice(0, LONGEST)}…` : why}`;
}
