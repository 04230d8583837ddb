/** Answers to creations that name something else than their result. */
import { bornOf } from "./numbered.ts";
import { creatorOf } from "./reading.ts";

interface Answered {
  id: string;
  /** An older resource cannot be the result; undefined once a read has confirmed the answer. */
  notBefore?: string | undefined;
  /** The user who created it. */
  userId?: string | undefined;
}

const whatIs = (kind: string, id = ""): string =>
  `${kind} ${id} is not what this object has created, although the platform answered with it`;

/** Why a read of the resource contradicts the answer. A date that cannot be read, or an unknown user, contradicts nothing. */
export function misanswer(kind: string, { id, notBefore, userId }: Answered, raw: unknown): string | undefined {
  if (notBefore === undefined) return undefined;
  const born = bornOf(raw) ?? "";
  const creator = creatorOf(raw);
  const isOld = Date.parse(born) < Date.parse(notBefore);
  const isOthers = creator !== undefined && userId !== undefined && creator !== userId;
  if (!isOld && !isOthers) return undefined;
  return `${whatIs(kind, id)}: ${isOld ? `it is older, created at ${born}` : "another user created it"}`;
}

/** Whether the platform has made something else is not known, so a person decides. */
export const nothingElseCreated = (kind: string, id: string): string =>
  `${whatIs(kind, id)}: it is left as it is, and nothing else is created; look for the ${kind} on the platform, and set externalId to its id; to create another one, set the annotation mooring.dev/recreate to "${id}"`;

export const nothingDeleted = (kind: string, id: string): string =>
  `${whatIs(kind, id)}: it is left as it is; if the creation has made another ${kind}, no object owns that: look for it on the platform`;
