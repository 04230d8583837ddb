import { z } from "zod";
import type { ResourceKind } from "../kind.ts";

/** Replaces paths in the request body, such as `[(root).properties.cores]`, by fields of spec. */
export function inWordsOfSpec(words: string, kind: ResourceKind | undefined): string {
  return words.replace(/\[\(root\)((?:\.[\w-]+|\[\d+\])*)\]\s*/g, (_, path: string) => {
    const field = specField(path.replaceAll(/\.properties(?=\.|$)/g, "").replace(/^\./, ""), kind);
    return field === "" ? "" : `${field}: `;
  });
}

function specField(path: string, kind: ResourceKind | undefined): string {
  const renamed = Object.entries(kind?.resource.names.fields ?? {});
  const field = renamed.reduce((at, [theirs, ours]) => at.replace(`.${theirs}`, `.${ours}`), `.${path}`).slice(1);
  const [first = ""] = field.split(/[.[]/);
  return kind && first in kind.spec.shape ? `spec.${field}` : field;
}

/** One line that names each invalid field, of spec by default; at most three of them. */
export function messageOf(error: unknown, within: readonly string[] = ["spec"]): string {
  if (!(error instanceof z.ZodError)) return error instanceof Error ? error.message : String(error);
  const issues = error.issues.map(({ path, message }) => {
    const field = [...within, ...path.map(String)].join(".");
    return field === "" ? message : `${field}: ${message}`;
  });
  return issues.slice(0, 3).join("; ");
}
