import { Document, isCollection, isScalar, LineCounter, parseAllDocuments, visit } from "yaml";

/** While a manifest is parsed the server answers nobody: these limits keep that to a fraction of a second. */
const MOST_BYTES = 32_768;
const MOST_DOCUMENTS = 100;
const MOST_DEPTH = 64;
const MOST_ALIASES = 100;

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

/** The values of all YAML documents in a text. Errors name `from`. */
export function valuesIn(text: string, from: string): unknown[] {
  const lineCounter = new LineCounter();
  // The parser compares each key of a map with all others: that takes a minute for a map with 30,000 fields.
  return parseAllDocuments(text, { uniqueKeys: false, lineCounter }).map((document) => {
    const [error] = document.errors;
    if (error) throw new Error(`${from}: it is not YAML: ${firstLine(error)}`);
    checkKeys(document, (at) => {
      const { line, col } = lineCounter.linePos(at);
      throw new Error(`${from}: it is not YAML: Map keys must be unique at line ${line}, column ${col}`);
    });
    checkNodes(document, from);
    try {
      return document.toJS({ maxAliasCount: MOST_ALIASES });
    } catch (error) {
      const isTooMuch = error instanceof Error && error.message.startsWith("Excessive alias count");
      throw new Error(
        isTooMuch
          ? `${from}: its aliases repeat too much: write the values out`
          : `${from}: it is not YAML: ${firstLine(error)}`,
      );
    }
  });
}

const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split("\n")[0] ?? "";

/** Calls `refuse` with the position of a key that its map has twice. */
function checkKeys(document: Document.Parsed, refuse: (at: number) => never): void {
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        if (seen.has(key.value)) refuse(key.range?.[0] ?? 0);
        seen.add(key.value);
      }
    },
  });
}

/**
 * Throws for a map or list as a key: Kubernetes has none, and to write nested ones as text takes minutes. Throws also for too
 * many aliases, and for an alias inside of its own anchor.
 */
function checkNodes(document: Document.Parsed, from: string): void {
  let aliases = 0;
  visit(document, {
    Pair(_, { key }) {
      if (isCollection(key)) throw new Error(`${from}: a key is not a text`);
    },
    Alias: () => void aliases++,
  });
  if (aliases > MOST_ALIASES)
    throw new Error(`${from}: it has ${aliases} aliases, more than ${MOST_ALIASES}: write the values out`);
  visit(document, {
    Alias(_, alias, path) {
      const target = alias.resolve(document);
      if (path.some((node) => node === target)) throw new Error(`${from}: the anchor ${alias.source} contains itself`);
    },
  });
}

/** Throws for a field that every JavaScript object has: to read or compare it would not mean what the manifest says. */
export function checkFields(value: unknown, from: string, within: readonly string[] = []): void {
  if (typeof value !== "object" || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    const path = [...within, name];
    if (name in Object.prototype) throw new Error(`${from}: ${path.join(".")} is not a name for a field`);
    checkFields(inner, from, path);
  }
}

/**
 * YAML of a value. kubectl and Helm read YAML 1.1, in which a plain `no` or `on` is a boolean, and `1:30` a number. Such
 * texts are quoted.
 */
export function yamlText(value: unknown, prepare: (document: Document) => void = () => {}): string {
  const document = new Document(value, { aliasDuplicateObjects: false, compat: "yaml-1.1" });
  prepare(document);
  return document.toString({ lineWidth: 0 });
}
