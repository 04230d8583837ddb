import { told } from "../../diagnostics/why/reasons.ts";
import { needsPerson, type Reason, reasons } from "../../engine/status/reasons.ts";
import { GROUP, VERSION } from "../../kinds/index.ts";
import type { Kind } from "../../kinds/kind.ts";
import type { Json } from "../../kube/write/structural.ts";
import { customResourceDefinition } from "./crd.ts";

const NOTE = (source: string) => `<!-- Generated from ${source} by \`make crds\`. Changes belong there. -->\n`;

/** docs/reference by path: a page per kind, one for the reasons, and an index. */
export function referencePages(kinds: readonly Kind[]): Map<string, string> {
  return new Map([
    ["docs/reference/README.md", indexPage(kinds)],
    ["docs/reference/reasons.md", reasonsPage()],
    ...kinds.map((kind) => [`docs/reference/${pageOf(kind)}`, kindPage(kind)] as const),
  ]);
}

const pageOf = ({ kind }: Kind): string => `${kind.toLowerCase()}.md`;

function indexPage(kinds: readonly Kind[]): string {
  const rows = kinds.map((kind) => `| [${kind.kind}](${pageOf(kind)}) | ${inCell(kind.description)} |`);
  return `${NOTE("src/kinds")}# Reference

Every field of every kind of \`${GROUP}/${VERSION}\`. [reasons.md](reasons.md) has the reasons of conditions and Events.

| Kind | What it is |
|---|---|
${rows.join("\n")}
`;
}

function reasonsPage(): string {
  const all = Object.entries(reasons).sort(([a], [b]) => a.localeCompare(b));
  const sections = all.map(([name, text]) => {
    const isStalled = needsPerson(name as Reason) && !told.has(name);
    return `## ${name}\n\n${text}${isStalled ? "\n\nThe object is `Stalled` until somebody acts." : ""}\n`;
  });
  return `${NOTE("src/engine/status/reasons.ts")}# Reasons

The reason of an object's \`Ready\` condition, and of Events about it. Each says what it means, then what to do. While an object
waits, it has the condition \`Reconciling\`; when somebody has to act, \`Stalled\`.

${sections.join("\n")}`;
}

function kindPage(kind: Kind): string {
  const { spec: definition } = customResourceDefinition(kind) as { spec: Json };
  const [version] = definition.versions as Json[];
  const { properties } = Object(version?.schema).openAPIV3Schema as { properties: Record<string, Json> };
  const { spec = {}, status = {} } = properties;
  const { names, scope } = definition as { names: { plural: string; shortNames?: string[] }; scope: string };
  const short = names.shortNames?.map((name) => `\`${name}\``).join(", ");
  const rules = rulesOf(spec, "");
  const columns = (version?.additionalPrinterColumns ?? []) as Json[];
  return `${NOTE("src/kinds")}# ${kind.kind}

${kind.description}

\`${GROUP}/${VERSION}\`, ${scope === "Cluster" ? "for the whole cluster" : "in a namespace"}; \`kubectl get ${names.plural}\`${short ? `, or ${short} for short` : ""}. A sample is in
[deploy/samples/${kind.kind.toLowerCase()}.yaml](../../deploy/samples/${kind.kind.toLowerCase()}.yaml).

## Spec

${fieldTable(spec, kind.immutable)}
${rules.length > 0 ? `\nThe API server enforces these rules:\n\n${rules.map((rule) => `- ${rule}`).join("\n")}\n` : ""}
## Status

${fieldTable(status, {})}

## Columns

| Column | Shown | Meaning |
|---|---|---|
${columns.map((column) => `| ${column.name} | ${column.priority ? "with `-o wide`" : "always"} | ${inCell(String(column.description ?? ""))} |`).join("\n")}
`;
}

/** A table of all fields of a schema, with full paths. */
function fieldTable(schema: Json, immutable: Readonly<Record<string, string>>): string {
  // Internal fields are not part of the API.
  const fields = fieldsOf(schema, "").filter(({ path }) => !/^internal\b/.test(path));
  const rows = fields.map(({ path, field, required }) => {
    const why = immutable[path];
    const notes = [String(field.description ?? ""), ...(why === undefined ? [] : [`Cannot be changed: ${why}.`])];
    return `| \`${path}\`${required ? " (required)" : ""} | ${typeOf(field)} | ${defaultOf(field)} | ${inCell(limitsOf(field).join(", "))} | ${inCell(notes.join(" ").trim())} |`;
  });
  return ["| Field | Type | Default | Allowed | Description |", "|---|---|---|---|---|", ...rows].join("\n");
}

interface Field {
  path: string;
  field: Json;
  required: boolean;
}

function fieldsOf(schema: Json, prefix: string): Field[] {
  const required = new Set((schema.required ?? []) as string[]);
  return Object.entries(Object(schema.properties) as Record<string, Json>).flatMap(([name, field]) => {
    const path = `${prefix}${name}`;
    const items = field.items as Json | undefined;
    const values = field.additionalProperties as Json | undefined;
    return [
      { path, field, required: required.has(name) },
      ...fieldsOf(field, `${path}.`),
      ...(items ? fieldsOf(items, `${path}[].`) : []),
      ...(values ? fieldsOf(values, `${path}.*.`) : []),
    ];
  });
}

function typeOf(field: Json): string {
  if (field["x-kubernetes-int-or-string"]) return "integer or string";
  const items = field.items as Json | undefined;
  if (items) return `list of ${typeOf(items)}`;
  const values = field.additionalProperties as Json | undefined;
  if (values) return `map of ${typeOf(values)}`;
  return String(field.type ?? "any");
}

const defaultOf = (field: Json): string =>
  field.default === undefined || typeof field.default === "object" ? "" : `\`${String(field.default)}\``;

const LIMITS: Readonly<Record<string, (value: unknown) => string>> = {
  enum: (values) => (values as unknown[]).map((value) => `\`${String(value)}\``).join(", "),
  minimum: (value) => `at least ${value}`,
  maximum: (value) => `at most ${value}`,
  minLength: (value) => (value === 1 ? "not empty" : `at least ${value} characters`),
  maxLength: (value) => `at most ${value} characters`,
  minItems: (value) => (value === 1 ? "not empty" : `at least ${value} items`),
  maxItems: (value) => `at most ${value} items`,
  format: (value) => `format ${value}`,
  pattern: (value) => `pattern \`${value}\``,
};

const limitsOf = (field: Json): string[] =>
  Object.entries(LIMITS).flatMap(([name, say]) => (field[name] === undefined ? [] : say(field[name])));

/** The messages of a schema's CEL rules, each with its path. */
function rulesOf(schema: Json, path: string): string[] {
  const own = ((schema["x-kubernetes-validations"] ?? []) as Json[]).flatMap(({ message }) =>
    message === undefined ? [] : [path === "" ? String(message) : `\`${path}\`: ${message}`],
  );
  const inside = Object.entries(Object(schema.properties) as Record<string, Json>).flatMap(([name, field]) =>
    rulesOf(field, path === "" ? name : `${path}.${name}`),
  );
  const items = schema.items as Json | undefined;
  return [...new Set([...own, ...inside, ...(items ? rulesOf(items, `${path}[]`) : [])])];
}

/** Escapes a text for a table cell. */
const inCell = (text: string): string => text.replaceAll("|", "\\|").replace(/\s+/g, " ");
