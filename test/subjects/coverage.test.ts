import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { z } from "zod";
import { kinds } from "../../src/kinds/index.ts";
import { hasResource } from "../../src/kinds/kind.ts";
import { structural } from "../../src/kube/write/structural.ts";
import { subjects as contract } from "../cluster/kinds-under-test.ts";
import { subjectsOf } from "../crash/lives.ts";
import { root } from "../processes.ts";
import { subjects } from "./index.ts";

const read = (path: string) => readFileSync(join(root, path), "utf8");
const subjectOf = (kind: string) => subjects.find((subject) => subject.kind === kind);
const sampled = z.looseObject({ kind: z.string() });

/** The lists of spec that can be emptied by a change, by their path. */
function lists(node: unknown, immutable: object, path = ""): string[] {
  const { type, minItems = 0, properties = {} } = schema.parse(node);
  if (path in immutable) return [];
  if (type === "array") return minItems === 0 ? [path] : [];
  return Object.entries(properties).flatMap(([name, child]) =>
    lists(child, immutable, path ? `${path}.${name}` : name),
  );
}
const schema = z.looseObject({
  type: z.string().optional(),
  minItems: z.int().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
});

describe.each(kinds)("$kind", (kind) => {
  const word = kind.kind.toLowerCase();

  it("has a subject; if not: test/subjects/index.ts", () => {
    expect(subjectOf(kind.kind)).toBeDefined();
    expect(() => kind.spec.parse(subjectOf(kind.kind)?.spec)).not.toThrow();
  });

  it("has a life in which it is killed; if not: test/subjects/index.ts", () => {
    const [mortal] = subjectsOf([kind]);
    expect(mortal?.life({ api: "http://platform.test", nth: 0 }).changes).not.toEqual([]);
  });

  it("has a sample; if not: deploy/samples", () => {
    const path = `deploy/samples/${word}.yaml`;
    expect(existsSync(join(root, path)), path).toBe(true);
    const shown = parseAllDocuments(read(path)).map((document) => sampled.parse(document.toJS()).kind);
    expect(shown, path).toContain(kind.kind);
  });

  it("has a row with its short name; if not: README.md", () => {
    expect(read("README.md")).toContain(`| [${kind.kind}](deploy/samples/${word}.yaml) | ${kind.shortNames[0]} |`);
  });
});

describe.each(kinds.filter(hasResource))("$kind, which has a resource", (kind) => {
  const word = kind.kind.toLowerCase();

  it("is held to the contract; if not: `wire` of its subject in test/subjects", () => {
    expect(contract.map((row) => row.kind.kind)).toContain(kind.kind);
  });

  it("can be changed, replaced or moved; if not: its subject in test/subjects", () => {
    const { change, fixedChange, move } = subjectOf(kind.kind) ?? {};
    expect(change ?? fixedChange ?? move).toBeDefined();
    if (Object.keys(kind.immutable).length > 0) expect(fixedChange ?? move).toBeDefined();
  });

  it("has a row for each list that can be emptied; if not: `lists` of its subject in test/subjects", () => {
    const found = lists(structural(kind.spec, word), kind.immutable);
    expect(Object.keys(subjectOf(kind.kind)?.lists ?? {})).toEqual(found);
  });
});
