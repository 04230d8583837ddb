import { type Document, isCollection, visit } from "yaml";

/** While a manifest is parsed the server answers nobody: these limits keep that to a fraction of a second. */
const MOST_BYTES = 32_768;
const MOST_DOCUMENTS = 100;
const MOST_DEPTH = 64;

/** Throws for a text that would take the YAML parser long. It does not parse. */
export function checkText(text: string): void {
  const bytes = Buffer.byteLength(text);
  if (bytes > MOST_BYTES) throw new Error(`manifest: it has ${bytes} bytes, more than ${MOST_BYTES}: ask in parts`);
  const documents = text.match(/^---|^\.\.\./gm)?.length ?? 0;
  if (documents > MOST_DOCUMENTS)
    throw new Error(`manifest: it has ${documents} documents, more than ${MOST_DOCUMENTS}: ask in parts`);
  let depth = 0;
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    depth = bracket === "[" || bracket === "{" ? depth + 1 : Math.max(0, depth - 1);
    if (depth > MOST_DEPTH) throw new Error(`manifest: its brackets are nested more than ${MOST_DEPTH} deep`);
  }
}

/** Throws for a map or list as a key: Kubernetes has none, and to write nested ones as text takes minutes. */
export function checkKeys(document: Document.Parsed): void {
  visit(document, {
    Pair(_, { key }) {
      if (isCollection(key)) throw new Error("manifest: a key is not a text");
    },
  });
}
