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
