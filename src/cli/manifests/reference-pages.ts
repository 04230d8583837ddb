import { explainReason, reasonNames } from "../../diagnostics/why/reasons.ts";
import { GROUP, VERSION } from "../../kinds/index.ts";
import { type Kind, type Rules, usesAccount } from "../../kinds/kind.ts";
import type { Json } from "../../kube/write/structural.ts";
import { isChange } from "./changes.ts";
import { customResourceDefinition } from "./crd.ts";
import { guides } from "./reason-notes.ts";

const NOTE = (source: string) => `<!-- Generated from ${source} by \`make generate\`. Changes belong there. -->\n`;

/** The first object of a kind in its sample, as YAML. */
type ExampleOf = (kind: Kind) => string | undefined;

/** docs/reference by path: a page per kind, one for the reasons, and an index. */
export function referencePages(kinds: readonly Kind[], exampleOf: ExampleOf): Map<string, string> {
  return new Map([
    ["docs/reference/README.md", indexPage(kinds)],
    ["docs/reference/reasons.md", reasonsPage()],
    ...kinds.map((kind) => [`docs/reference/${pageOf(kind)}`, kindPage(kind, exampleOf(kind))] as const),
  ]);
}

export const pageOf = ({ kind }: Kind): string => `${kind.toLowerCase()}.md`;

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
  const sections = reasonNames.map((name) => {
    const more = guides[name] === undefined ? "" : ` More: [${guides[name][0]}](../${guides[name][1]}).`;
    const { meaning, state } = explainReason(name);
    return `## ${name}\n\n${meaning}\n\n${state}${more}\n`;
  });
  return `${NOTE("src/engine/status/reasons.ts")}# Reasons

The reason of an object's \`Ready\` condition, and of Events about it: what it means, what to do, and who has to do it. While an
object waits, it has the condition \`Reconciling\`; when somebody has to act, \`Stalled\`. \`mooring why\` and the alerts lead here.

${sections.join("\n")}`;
}

function kindPage(kind: Kind, example: string | undefined): string {
  const { spec: definition } = customResourceDefinition(kind) as { spec: Json };
  const [version] = definition.versions as Json[];
  const whole = Object(version?.schema).openAPIV3Schema as Json & { properties: Record<string, Json> };
  const { properties } = whole;
  const { spec = {}, status = {} } = properties;
  const { names, scope } = definition as { names: { plural: string; shortNames?: string[] }; scope: string };
  const short = names.shortNames?.map((name) => `\`${name}\``).join(", ");
  const rules = [...objectRules(whole), ...rulesOf(spec, "")];
  const changes = kind.rules.filter(isChange).flatMap(messagesOf);
  const sample = `deploy/samples/${kind.kind.toLowerCase()}.yaml`;
  const columns = (version?.additionalPrinterColumns ?? []) as Json[];
  return `${NOTE("src/kinds")}# ${kind.kind}

${kind.description}

\`${GROUP}/${VERSION}\`, ${scope === "Cluster" ? "for the whole cluster" : "in a namespace"}; \`kubectl get ${names.plural}\`${short ? `, or ${short} for short` : ""}.

## Example

\`\`\`yaml
${example ?? ""}
\`\`\`

From [${sample}](../../${sample}).

## Spec
${usesAccount(kind) ? "\nFields that cannot be changed are fixed once there is a resource, or an export has started. Before that, they can be corrected.\n" : ""}
${fieldTable(spec, changeNotes(kind))}
${list("The API server enforces these rules:", rules)}${list("It also refuses these changes once there is a resource:", changes)}${kindNotes(kind)}
## Status

${fieldTable(status, new Map())}

## Columns

| Column | Shown | Meaning |
|---|---|---|
${columns.map((column) => `| ${column.name} | ${column.priority ? "with `-o wide`" : "always"} | ${inCell(String(column.description ?? ""))} |`).join("\n")}
`;
}

const list = (head: string, lines: readonly string[]): string =>
  lines.length === 0 ? "" : `\n${head}\n\n${lines.map((line) => `- ${line}`).join("\n")}\n`;

/** Facts about the kind as a whole. */
function kindNotes({ kind, scale, annotations = [] }: Kind): string {
  const scaled = scale ? [`\`kubectl scale\` sets \`${scale.spec}\` and shows \`${scale.status}\` of status.`] : [];
  const own = annotations.map((name) => `\`${name}\``).join(", ");
  const annotated = own === "" ? [] : [`Annotations of ${kind} alone: ${own}.`];
  return [...scaled, ...annotated].map((line) => `\n${line}\n`).join("");
}

/** Limits on changes of spec once there is a resource, by path. */
function changeNotes(kind: Kind): Map<string, string> {
  const { immutable, grows = [], resource } = kind;
  const unless = resource ? " unless replacePolicy is WhenNeeded" : "";
  return new Map([
    ...(usesAccount(kind) ? [["accountRef", "Cannot be changed."] as const] : []),
    ...Object.entries(immutable).map(([field, why]) => [field, `Cannot be changed${unless}: ${why}.`] as const),
    ...grows.map((field) => [field, "Can only grow."] as const),
  ]);
}

/** A table of all fields of a schema, with full paths. */
function fieldTable(schema: Json, changes: ReadonlyMap<string, string>): string {
  // Internal fields are not part of the API.
  const fields = fieldsOf(schema, "").filter(({ path }) => !/^internal\b/.test(path));
  const rows = fields.map(({ path, field, required }) => {
    const notes = [String(field.description ?? ""), changes.get(path) ?? ""];
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

function limitsOf(field: Json): string[] {
  const own = Object.entries(LIMITS).flatMap(([name, say]) => (field[name] === undefined ? [] : say(field[name])));
  const members = field.items ?? field.additionalProperties;
  const each = members === undefined ? [] : limitsOf(Object(members));
  return each.length === 0 ? own : [...own, `each ${each.join(", ")}`];
}

/** The messages of rules over the whole object, without rules about changes. */
const objectRules = (schema: Json): string[] =>
  ((schema["x-kubernetes-validations"] ?? []) as Json[])
    .filter(({ rule }) => !String(rule).includes("oldSelf"))
    .flatMap(validationMessages);

/** The messages of a schema's CEL rules, each with its path. */
function rulesOf(schema: Json, path: string): string[] {
  const own = ((schema["x-kubernetes-validations"] ?? []) as Json[])
    .flatMap(validationMessages)
    .map((message) => (path === "" ? message : `\`${path}\`: ${message}`));
  const inside = Object.entries(Object(schema.properties) as Record<string, Json>).flatMap(([name, field]) =>
    rulesOf(field, path === "" ? name : `${path}.${name}`),
  );
  const items = schema.items as Json | undefined;
  return [...new Set([...own, ...inside, ...(items ? rulesOf(items, `${path}[]`) : [])])];
}

/** All messages of a validation: its own, or those in its expression. */
const validationMessages = ({ message, messageExpression }: Json): string[] =>
  message === undefined
    ? [...String(messageExpression ?? "").matchAll(/"(?:[^"\\]|\\.)*; "/g)].map(([text]) =>
        String(JSON.parse(text)).replace(/; $/, ""),
      )
    : [String(message)];

const messagesOf = (rules: Rules): string[] =>
  "parts" in rules ? rules.parts.map(({ message }) => message) : [rules.message];

/** Escapes a text for a table cell. */
const inCell = (text: string): string => text.replaceAll("|", "\\|").replace(/\s+/g, " ");
