import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { z } from "zod";
import { hasPrice } from "../../src/diagnostics/cost.ts";
import { kinds } from "../../src/kinds/index.ts";
import { hasResource, usesAccount } from "../../src/kinds/kind.ts";
import { structural } from "../../src/kube/write/structural.ts";
import { subjects as contract } from "../cluster/kinds-under-test.ts";
import { subjectsOf } from "../crash/lives/lives.ts";
import { root } from "../processes.ts";
import { subjects } from "./index.ts";

const read = (path: string) => readFileSync(join(root, path), "utf8");
const subjectOf = (kind: string) => subjects.find((subject) => subject.kind === kind);
const guides = globSync("docs/guides/*.md", { cwd: root }).map(read);
const sampled = z.looseObject({ kind: z.string() });

/** The lists of spec that a change can empty, by path. */
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

it("the kinds that users ask for first are there", () => {
  const first = "Datacenter Server ScalingGroup MetricPipeline LogPipeline KafkaTopic FlowLog".split(" ");
  expect(kinds.map(({ kind }) => kind)).toEqual(expect.arrayContaining(first));
});

describe.each(kinds)("$kind", (kind) => {
  const word = kind.kind.toLowerCase();

  it("has a fixture; if not: test/subjects/kinds", () => {
    expect(subjectOf(kind.kind)).toBeDefined();
    expect(() => kind.spec.parse(subjectOf(kind.kind)?.spec)).not.toThrow();
  });

  it("has manifests that are accepted and refused; if not: `manifests` of its fixture", () => {
    const { accepted = [], refused = [] } = subjectOf(kind.kind)?.manifests ?? {};
    expect(accepted).not.toEqual([]);
    expect(refused).not.toEqual([]);
  });

  it("has a life in which it is killed; if not: its fixture in test/subjects/kinds", () => {
    const [mortal] = subjectsOf([kind]);
    expect(mortal?.life({ api: "http://platform.test", nth: 0 }).changes).not.toEqual([]);
  });

  it("has a sample; if not: deploy/samples", () => {
    const path = `deploy/samples/${word}.yaml`;
    expect(existsSync(join(root, path)), path).toBe(true);
    const shown = parseAllDocuments(read(path)).map((document) => sampled.parse(document.toJS()).kind);
    expect(shown, path).toContain(kind.kind);
  });

  it("has a price or none; if not: `linesOf` in src/diagnostics/cost.ts, or `free: true` in the kind", () => {
    expect(kind.free === true).not.toBe(hasPrice(kind.kind));
  });

  it("has a place in the guides; if not: docs/guides", () => {
    const mentioned = guides.filter((text) => new RegExp(`\\b${kind.kind}s?\\b`).test(text));
    expect(mentioned).not.toEqual([]);
  });
});

describe.each(kinds.filter(usesAccount))("$kind, which uses an Account", ({ kind, spec, immutable }) => {
  it("tries to change every immutable field; if not: `manifests.changes` of its fixture", () => {
    const { fixed = [], refused = [] } = subjectOf(kind)?.manifests.changes ?? {};
    const said = [...fixed, ...refused].flatMap(({ says }) => says);
    const { properties = {} } = z.toJSONSchema(spec, { io: "input" });
    const untried = Object.keys(immutable).filter((field) => {
      const schema = properties[field];
      // There is no other value to change it to.
      if (typeof schema === "object" && schema.enum?.length === 1) return false;
      return !said.some((each) => each.includes(`${field} cannot be`));
    });
    expect(untried).toEqual([]);
  });
});

describe.each(kinds.filter(hasResource))("$kind, which has a resource", (kind) => {
  const word = kind.kind.toLowerCase();

  it("is held to the contract; if not: `wire` of its fixture", () => {
    expect(contract.map((row) => row.kind.kind)).toContain(kind.kind);
  });

  it("can be changed, replaced or moved; if not: `change`, `fixedChange` or `move` of its fixture", () => {
    const { change, fixedChange, move } = subjectOf(kind.kind) ?? {};
    expect(change ?? fixedChange ?? move).toBeDefined();
    if (Object.keys(kind.immutable).length > 0) expect(fixedChange ?? move).toBeDefined();
  });

  it("has a row for each list that can be emptied; if not: `lists` of its fixture", () => {
    const found = lists(structural(kind.spec, word), kind.immutable);
    expect(Object.keys(subjectOf(kind.kind)?.lists ?? {})).toEqual(found);
  });
});
