import { describe, expect, it } from "vitest";
import { z } from "zod";
import { customResourceDefinition } from "../../src/cli/manifests/crd.ts";
import { kinds } from "../../src/kinds/index.ts";

const node = z.looseObject({
  type: z.string().optional(),
  pattern: z.string().optional(),
  maxLength: z.number().optional(),
  enum: z.array(z.unknown()).optional(),
  "x-kubernetes-validations": z.array(z.object({ rule: z.string() })).optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  items: z.unknown().optional(),
});
type Node = z.output<typeof node>;

const definition = z.object({
  spec: z.object({
    versions: z.tuple([
      z.object({ schema: z.object({ openAPIV3Schema: z.object({ properties: z.object({ spec: node }) }) }) }),
    ]),
  }),
});

/** Every text field of spec, by its path. */
function texts(raw: unknown, path: string): { path: string; schema: Node }[] {
  const schema = node.parse(raw);
  const below = Object.entries(schema.properties ?? {}).flatMap(([name, child]) => texts(child, `${path}.${name}`));
  const members = schema.items === undefined ? [] : texts(schema.items, `${path}[]`);
  return [...(schema.type === "string" ? [{ path, schema }] : []), ...below, ...members];
}

const all = kinds
  .filter(({ resource }) => resource)
  .flatMap((kind) => {
    const { spec } = definition.parse(customResourceDefinition(kind));
    return texts(spec.versions[0].schema.openAPIV3Schema.properties.spec, kind.kind);
  });

/** Whether the API server would accept the text. RE2 and JavaScript agree about these expressions. */
function admits({ pattern, enum: values, maxLength = 0, "x-kubernetes-validations": rules = [] }: Node, text: string) {
  const expressions = rules.flatMap(({ rule }) => {
    const literal = /^self\.matches\((".*")\)$/s.exec(rule)?.[1];
    return literal === undefined ? [] : [z.string().parse(JSON.parse(literal))];
  });
  const address = rules.some(({ rule }) => /^(isCIDR|isIP|self == 'AUTO' \|\| \(isCIDR)\b/.test(rule));
  const forms = [...expressions, ...(pattern === undefined ? [] : [pattern])];
  const fits = forms.every((form) => new RegExp(form, "u").test(text)) && text.length <= maxLength;
  return values ? values.includes(text) : !address && fits;
}

describe("at kubectl apply", () => {
  it("every text has an upper length, but for those of a closed list", () => {
    expect(all.length).toBeGreaterThan(100);
    expect(all.filter(({ schema }) => !schema.enum && schema.maxLength === undefined)).toEqual([]);
  });

  it.each(["a\u0000b", "a\u001b[31mb", "a\u007fb", "a\u0085b"])("no text with %j in it is let in", (text) => {
    expect(all.filter(({ schema }) => admits(schema, text)).map(({ path }) => path)).toEqual([]);
  });

  it.each(["a\nb", "a\rb", "a\u2028b"])("with %j in it only a description is", (text) => {
    const open = all.filter(({ schema }) => admits(schema, text)).map(({ path }) => path);
    expect(open).toContain("Datacenter.description");
    expect(open).toEqual(all.map(({ path }) => path).filter((path) => path.endsWith(".description")));
  });

  it.each(["..", ".", "a/b", "../x", "a%2Fb", "a b", "0", "-1", "a".repeat(36)])("%j is no id", (text) => {
    const ids = all.filter(({ path }) => /(Id|Uuid|\.image)$/.test(path));
    expect(ids.length).toBeGreaterThan(30);
    expect(ids.filter(({ schema }) => admits(schema, text)).map(({ path }) => path)).toEqual([]);
  });

  it("names, ids and descriptions as people write them are let in", () => {
    const at = (path: string) => all.find((each) => each.path === path)?.schema ?? expect.fail(path);
    expect(admits(at("Server.name"), "Wébserver “1” 🚢, €/$")).toBe(true);
    expect(admits(at("Datacenter.description"), "one\n\ttwo\r\nthree\n")).toBe(true);
    expect(admits(at("Volume.sshKeys[]"), "ssh-ed25519 AAAA\tme@home")).toBe(true);
    expect(admits(at("ScalingGroup.replica.volumes[].sshKeys[]"), "ssh-ed25519 AAAA me@home")).toBe(true);
    expect(admits(at("Lan.externalId"), "7")).toBe(true);
    expect(admits(at("Server.externalId"), "72e73b81-8551-4e74-b398-fc63b39994af")).toBe(true);
  });
});
