import { z } from "zod";
import type { KubeObject } from "../../../kube/resource.ts";
import { controllerOf } from "../../../kube/write/owned-secret.ts";
import { certificateFacts, keyFacts } from "../../status/schema.ts";
import { OUTPUT } from "../names.ts";

export const note = z.object({
  /** The resource whose key it holds. */
  resource: z.string(),
  /** The creation or renewal that the key answers. */
  nonce: z.string(),
  /** Hash of everything in it but the key. */
  content: z.string(),
  key: z.union([certificateFacts, keyFacts]),
  /** The value of the annotation rotate-at that the key answers, or that was there with the first one. */
  rotated: z.string(),
  /** The fingerprint of each entry as it was written. A note that was made of status has none. */
  entries: z.record(z.string(), z.string()).optional(),
});
/** The annotation of a published Secret about itself. */
export type Note = z.output<typeof note>;

/** Entries of a Secret that are not as they were written. Added entries do not count. */
export const changedEntries = ({ entries = {} }: Note, found: Readonly<Record<string, string>>): string[] =>
  Object.keys(entries).filter((name) => entries[name] !== found[name]);

export const isOutput = ({ metadata }: KubeObject): boolean => metadata.labels?.[OUTPUT] === "true";

/** Whether a Secret is the object's own. */
export const isOf = ({ metadata }: KubeObject, secret: KubeObject | undefined): boolean =>
  secret !== undefined && metadata.uid !== undefined && controllerOf(secret)?.uid === metadata.uid;
