import { type Kind, usesAccount } from "../../kinds/kind.ts";
import type { KubeObject } from "../../kube/resource.ts";
import { nearestWord } from "../../runtime/nearest-word.ts";
import { readStatus, readyOf } from "../status/status.ts";
import {
  ALLOW_DATA_LOSS,
  ALLOW_NON_EMPTY_DELETE,
  EXTERNAL_ID,
  INTENT,
  OWN,
  PAUSED,
  RECONCILE_AT,
  RECREATE,
  ROTATE_AT,
} from "./names.ts";

type Annotated = Pick<KubeObject, "metadata">;

/** The words that set an annotation that is true or false. */
export const YES: readonly string[] = ["true", "yes", "1"];
const NO = ["false", "no", "0", ""];

/** The annotations that are true or false. */
const FLAGS = [PAUSED, ALLOW_NON_EMPTY_DELETE, ALLOW_DATA_LOSS];

export function flagOf({ metadata }: Annotated, name: string): "yes" | "no" | "unclear" {
  const word = metadata.annotations?.[name]?.trim().toLowerCase() ?? "";
  if (YES.includes(word)) return "yes";
  return NO.includes(word) ? "no" : "unclear";
}

export const isPaused = (object: Annotated): boolean => flagOf(object, PAUSED) !== "no";
export const isAllowed = (object: Annotated, name: string): boolean => flagOf(object, name) === "yes";

/** Annotations of Mooring's that have an effect on objects of a kind. */
export function annotationsOf(kind: Kind): string[] {
  const { secret, destruction } = kind.resource ?? {};
  return [
    INTENT,
    EXTERNAL_ID,
    RECONCILE_AT,
    ...(usesAccount(kind) ? [PAUSED] : []),
    ...(kind.resource ? [RECREATE, ALLOW_DATA_LOSS] : []),
    ...(destruction?.contents ? [ALLOW_NON_EMPTY_DELETE] : []),
    ...(secret ? [ROTATE_AT] : []),
    ...(kind.annotations ?? []),
  ];
}

/** Reasons with which an object asks whether to create another resource. */
const ASKING: readonly (string | undefined)[] = ["Missing", "DeletedExternally", "AlreadyExists"];
/** The value of mooring.dev/recreate that means: create another one, whatever exists. */
export const ANOTHER = "another";
const saying = (word: string): string => `annotation ${RECREATE} is ${JSON.stringify(word.slice(0, 80))}`;
/** The advice for an annotation that was set before status asked. */
const tooEarly = (word: string): string =>
  `${saying(word)} and has no effect: it was there before status asked for it; remove it, and set it again if status asks for it`;

/** Ids to create anew. The annotation answers a question of status: one that was set earlier has no effect. */
export function recreateAsked(object: KubeObject): string[] {
  const { [RECREATE]: word = "" } = object.metadata.annotations ?? {};
  const isEarly = readStatus(object).advice?.includes(tooEarly(word));
  return isEarly || !ASKING.includes(readyOf(object)?.reason) ? [] : word.split(",");
}

/**
 * Advice for the next status, about an annotation that was set too early or names another id. It is signed: `recreateAsked`
 * relies on it.
 */
export function recreateAdvice(object: KubeObject, nextReason: string | undefined): string[] {
  const { [RECREATE]: word = "" } = object.metadata.annotations ?? {};
  const { id, advice = [] } = readStatus(object);
  if (word === "") return [];
  const isEarly = ASKING.includes(nextReason) && !ASKING.includes(readyOf(object)?.reason);
  const isAnswer = word.split(",").some((each) => each === id || each === ANOTHER);
  const isUnasked = nextReason === "Available" && isAnswer;
  if (isEarly || isUnasked || advice.includes(tooEarly(word))) return [tooEarly(word)];
  const isWrong = !isAnswer && (nextReason === "Missing" || nextReason === "DeletedExternally");
  return isWrong ? [`${saying(word)} and has no effect: only "${id}" asks for a new one`] : [];
}

const ABOUT = `annotation ${OWN.prefix}`;
export const isAboutAnnotations = (advice: string): boolean => advice.startsWith(ABOUT);

const withoutPrefix = (name: string): string => name.slice(OWN.prefix.length);

/** How many unknown annotations the advice names. */
const MOST = 5;

/** Advice about the annotations of an object: values that are not understood, and names that have no effect. */
export function annotationAdvice(kind: Kind, object: KubeObject): string[] {
  const { annotations = {} } = object.metadata;
  const effective = annotationsOf(kind);
  const unknown = Object.keys(annotations)
    .filter((name) => name.startsWith(OWN.prefix) && !effective.includes(name))
    .sort();
  const meant = effective.filter((name) => name !== INTENT && name !== EXTERNAL_ID).map(withoutPrefix);
  const named = unknown.slice(0, MOST).map((name) => {
    const near = nearestWord(withoutPrefix(name).toLowerCase(), meant);
    const hint = near === undefined ? "remove it" : `did you mean ${OWN.prefix}${near}?`;
    return `annotation ${name} is unknown for kind ${kind.kind} and has no effect: ${hint}`;
  });
  const more = unknown.length - named.length;
  return [
    ...FLAGS.flatMap((name) => (effective.includes(name) ? misread(object, name) : [])),
    ...named,
    ...(more > 0 ? [`annotation ${OWN.prefix}…: ${more} more are unknown and have no effect: remove them`] : []),
  ];
}

/** Advice for a value that is neither true nor false, or a generation: nothing is resumed or allowed by mistake. */
function misread(object: Annotated, name: string): string[] {
  const word = object.metadata.annotations?.[name];
  if (word?.trim() === "") return [`annotation ${name} is empty and has no effect: set it to "true", or remove it`];
  const isGeneration = name === ALLOW_DATA_LOSS && /^[0-9]+$/.test(word ?? "");
  if (word === undefined || isGeneration || flagOf(object, name) !== "unclear") return [];
  const [effect, aim] = name === PAUSED ? ["the object stays paused", " to resume"] : ["it allows nothing", ""];
  const shown = `${name} is ${JSON.stringify(word.slice(0, 40))}`;
  return [`annotation ${shown}, which is neither true nor false: ${effect}; set it to "true", or remove it${aim}`];
}
