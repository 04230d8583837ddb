import { describe, expect, it } from "vitest";
import { z } from "zod";
import { generatedFiles } from "../../generate/files.ts";
import { customResourceDefinition } from "../../src/cli/manifests/crd.ts";
import { reasonNames } from "../../src/diagnostics/why/reasons.ts";
import { reasons } from "../../src/engine/status/reasons.ts";
import { kinds } from "../../src/kinds/index.ts";
import { root } from "../processes.ts";

const field = z.looseObject({
  default: z.unknown().optional(),
  enum: z.array(z.unknown()).optional(),
  maximum: z.number().optional(),
  maxLength: z.number().optional(),
  maxItems: z.number().optional(),
  get properties() {
    return z.record(z.string(), field).optional();
  },
  get items() {
    return field.optional();
  },
});
type Field = z.output<typeof field>;

const definition = z.object({
  spec: z.object({
    versions: z.tuple([
      z.object({
        additionalPrinterColumns: z.array(z.object({ name: z.string() })),
        schema: z.object({ openAPIV3Schema: z.object({ properties: z.object({ spec: field, status: field }) }) }),
      }),
    ]),
  }),
});

const fieldsOf = (node: Field, path = ""): [path: string, field: Field][] => [
  ...Object.entries(node.properties ?? {}).flatMap(([name, child]): [string, Field][] => [
    [`${path}${name}`, child],
    ...fieldsOf(child, `${path}${name}.`),
  ]),
  ...(node.items ? fieldsOf(node.items, `${path.slice(0, -1)}[].`) : []),
];

const pages = generatedFiles(root);

describe.each(kinds)("the reference page of $kind", (kind) => {
  const page = pages.get(`docs/reference/${kind.kind.toLowerCase()}.md`) ?? "";
  const [version] = definition.parse(customResourceDefinition(kind)).spec.versions;
  const { spec, status } = version.schema.openAPIV3Schema.properties;
  const [, inSpec = "", inStatus = ""] = page.split(/^## (?:Spec|Status)$/m);
  const rowOf = (section: string, path: string) =>
    section.split("\n").find((line) => line.startsWith(`| \`${path}\` `)) ?? "";

  it("has every field with its default, its values and its limits", () => {
    for (const [section, schema] of [[inSpec, spec] as const, [inStatus, status] as const]) {
      for (const [path, { default: value, enum: values = [], maximum, maxLength, maxItems }] of fieldsOf(schema)) {
        if (path.startsWith("internal")) continue;
        const row = rowOf(section, path);
        expect(row, path).not.toBe("");
        if (typeof value === "string" || typeof value === "boolean") expect(row).toContain(`| \`${value}\` |`);
        for (const each of values) expect(row).toContain(`\`${each}\``);
        for (const limit of [maximum, maxLength, maxItems]) if (limit !== undefined) expect(row).toContain(`${limit}`);
      }
    }
  });

  it("says which fields cannot be changed, and why", () => {
    for (const [path, why] of Object.entries(kind.immutable)) {
      expect(rowOf(inSpec, path)).toMatch(/Cannot be changed/);
      expect(rowOf(inSpec, path)).toContain(why);
    }
    for (const path of kind.grows ?? []) expect(rowOf(inSpec, path)).toContain("Can only grow");
  });

  it("has every rule of the API server in words", () => {
    const messages = kind.rules.flatMap((rule) =>
      ("parts" in rule ? rule.parts : [rule]).map(({ message }) => message),
    );
    for (const message of messages) expect(inSpec).toContain(`- ${message}\n`);
  });

  it("has every column, and an example of the kind", () => {
    for (const { name } of version.additionalPrinterColumns) expect(page).toContain(`\n| ${name} | `);
    const [, example = ""] = /```yaml\n([\s\S]*?)\n```/.exec(page) ?? [];
    expect(example).toMatch(new RegExp(`^kind: ${kind.kind}$`, "m"));
  });
});

it("the page of reasons says of each what it means, what to do, and who has to act", () => {
  const page = pages.get("docs/reference/reasons.md") ?? "";
  expect(reasonNames).toEqual(Object.keys(reasons).sort());
  for (const name of reasonNames) {
    const [meaning, acting, ...more] = (page.split(`\n## ${name}\n\n`)[1]?.split("\n## ")[0] ?? "")
      .trim()
      .split("\n\n");
    expect(meaning, name).toBe(reasons[name]);
    expect(acting, name).toMatch(/^(The (object|Account) is|Only an administrator|Nothing is wrong)/);
    expect(more, name).toEqual([]);
  }
});
