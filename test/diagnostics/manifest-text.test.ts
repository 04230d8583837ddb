import { Session } from "node:inspector";
import { describe, expect, it } from "vitest";
import { costEstimate } from "../../src/diagnostics/cost.ts";
import { valuesIn } from "../../src/diagnostics/manifest-text.ts";
import { options } from "../../src/diagnostics/options/options.ts";
import { NoCluster } from "../../src/kube/client/config.ts";
import { manifestsIn } from "../../src/plan/inputs/manifests.ts";
import { planQuestion } from "../../src/plan/question.ts";

/** How often functions are called in a run. It does not depend on the machine. */
function callsOf(run: () => void): number {
  const session = new Session();
  session.connect();
  let calls = 0;
  const post = (method: "Profiler.enable" | "Profiler.disable" | "Profiler.stopPreciseCoverage") =>
    session.post(method);
  post("Profiler.enable");
  session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  try {
    run();
    session.post("Profiler.takePreciseCoverage", (error, { result }) => {
      if (error) throw error;
      const functions = result.flatMap(({ functions }) => functions);
      calls = functions.reduce((sum, { ranges }) => sum + (ranges[0]?.count ?? 0), 0);
    });
  } finally {
    post("Profiler.stopPreciseCoverage");
    post("Profiler.disable");
    session.disconnect();
  }
  return calls;
}

const platform = {
  endpoint: () => "https://api.example.org",
  contractNumber: 1,
  read: async () => ({ status: 200, headers: {}, body: { products: [] } }),
};
const sources = {
  signal: new AbortController().signal,
  progress: () => {},
  missing: () => {},
  platform: async () => platform,
  cluster: async () => Promise.reject(new NoCluster("none")),
  schemas: async () => () => ({}),
} as never;

describe.each([
  ["a cost estimate", costEstimate],
  ["a plan", planQuestion],
])("%s refuses before it takes long", (_, ask: (from: never, asked: { manifest: string }) => Promise<unknown>) => {
  it.each([
    ["many documents", "---\n".repeat(8000), "documents, more than 100"],
    ["many bytes", "a".repeat(40_000), "bytes, more than 32768"],
    ["deep lists", "[".repeat(400), "nested more than 64 deep"],
    ["deep maps", "{a: ".repeat(400), "nested more than 64 deep"],
    ["maps as keys", "? ".repeat(20), "a key is not a text"],
  ])("%s", async (_, manifest, message) => {
    await expect(ask(sources, { manifest })).rejects.toThrow(message);
  });

  const volume = (spec: string, more = "") =>
    `apiVersion: mooring.dev/v1alpha1\nkind: Volume\nmetadata: {name: a}\n${more}spec: ${spec}\n`;
  it.each([
    ["an alias of what it is in", volume("&x {size: 1, inner: {again: *x}}"), "manifest: the anchor x contains itself"],
    ["a document in itself", "&x\n- *x\n", "manifest: the anchor x contains itself"],
    ["many aliases", `a: &x 1\nb: [${"*x, ".repeat(101)}]\n`, "manifest: it has 101 aliases, more than 100"],
    [
      "aliases of aliases",
      [
        "a: &a [1, 1, 1, 1, 1]",
        "b: &b [*a, *a, *a, *a, *a]",
        "c: &c [*b, *b, *b, *b, *b]",
        "d: [*c, *c, *c, *c, *c]",
      ].join("\n"),
      "manifest: its aliases repeat too much",
    ],
    ["an alias of nothing", volume("*none"), "manifest: it is not YAML"],
    ["a field __proto__", volume("{size: 1, __proto__: {a: 1}}"), "manifest: spec.__proto__ is not a name for a field"],
    ["a field toString", volume("{toString: 1}"), "manifest: spec.toString is not a name for a field"],
    [
      "a field hasOwnProperty",
      volume("{size: {hasOwnProperty: 1}}"),
      "manifest: spec.size.hasOwnProperty is not a name",
    ],
    ["__proto__ at the top", volume("{size: 1}", "__proto__: {}\n"), "manifest: __proto__ is not a name for a field"],
    [
      "__proto__ in a list",
      volume("{x: [{constructor: 1}]}"),
      "manifest: spec.x.0.constructor is not a name for a field",
    ],
    [
      "a List of objects",
      `kind: List\nitems: [{apiVersion: mooring.dev/v1alpha1, kind: Volume, metadata: {name: a}, spec: {valueOf: 1}}]`,
      "spec.valueOf is not a name for a field",
    ],
  ])("%s, and says what", async (_, manifest, message) => {
    await expect(ask(sources, { manifest })).rejects.toThrow(message);
  });
});

it("objects of others may have any field", () => {
  const text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {toString: x, constructor: y}\n";
  expect(manifestsIn([{ from: "f", text }], "n").others).toEqual(["ConfigMap a"]);
});

it.each([
  ["in lines", (fields: string[]) => `a:\n  ${fields.join("\n  ")}\n`],
  ["in brackets", (fields: string[]) => `a: {${fields.join(", ")}}\n`],
])(
  "a map of a file may have many fields and anchors %s: four times as many take four times as many calls of functions",
  (_, mapOf) => {
    const callsFor = (count: number) => {
      const fields = Array.from({ length: count }, (_, nth) => `f${nth}: &a${nth} x`);
      const text = mapOf(fields);
      let value: unknown;
      const calls = callsOf(() => {
        [value] = valuesIn(text, "f");
      });
      expect(Object.keys(Object(Object(value).a))).toHaveLength(count);
      return calls;
    };
    expect(callsFor(2000) / callsFor(500)).toBeLessThan(4.5);
  },
);

it.each([
  ["spec:\n  size: 1\n  name: a\n  size: 2\n", "line 4, column 3"],
  ["spec: {size: 1, 'size': 2}\n", "line 1, column 17"],
  ["1: a\n1: b\n", "line 2, column 1"],
])("a field that is there twice is refused: %j", (text, place) => {
  expect(() => valuesIn(text, "f")).toThrow(`f: it is not YAML: Map keys must be unique at ${place}`);
});

it("a few anchors are fine", async () => {
  const manifest = `a: &x {size: 10}\nkind: Volume\nmetadata: {name: a}\nspec: *x\n`;
  expect(await costEstimate(sources, { manifest })).toMatchObject({ items: [{ kind: "Volume" }] });
});

describe("a cost estimate", () => {
  it.each([
    ["Volume", "size: 1e26", "Volume a: spec.size"],
    ["Volume", "size: -5", "Volume a: spec.size"],
    ["Volume", "size: .inf", "Volume a: spec.size"],
    ["Server", "cores: 1e300", "Server a: spec.cores"],
    ["Server", "ram: 1.5", "Server a: spec.ram"],
    ["Server", "bootVolume: {size: 1e26}", "Server a: spec.bootVolume.size"],
    ["IPBlock", "size: 1e12", "IPBlock a: spec.size"],
  ])("prices no %s with %s", async (kind, spec, message) => {
    const manifest = `kind: ${kind}\nmetadata: {name: a}\nspec: {${spec}}\n`;
    await expect(costEstimate(sources, { manifest })).rejects.toThrow(message);
  });

  it.each(["constructor", "__proto__", "toString", "Other"])("does not know the price of a kind %s", async (kind) => {
    const manifest = `kind: ${kind}\nmetadata: {name: a}\nspec: {}\n`;
    expect(await costEstimate(sources, { manifest })).toMatchObject({ items: [{ kind, lines: [], per_month: 0 }] });
  });

  it("prices a spec that is not complete", async () => {
    const manifest = "kind: Server\nmetadata: {name: a}\nspec: {cores: 2}\n";
    expect(await costEstimate(sources, { manifest })).toMatchObject({
      items: [{ lines: [{ what: "cores", amount: 2 }, {}] }],
    });
  });
});

describe("a bad price catalogue is one short line", () => {
  const product = { meterId: 1, meterDesc: null, unitCost: "free" };
  const bad = (body: unknown) =>
    ({ ...Object(sources), platform: async () => ({ ...platform, read: async () => ({ body }) }) }) as never;
  it.each([
    [{ products: Array.from({ length: 100 }, () => product) }, "products.0.meterId"],
    [{ products: "none" }, "products"],
    [null, "the whole"],
  ])("%#", async (body, field) => {
    const error: unknown = await costEstimate(bad(body), { manifest: "kind: Volume" }).catch(
      (reason: unknown) => reason,
    );
    expect(String(error)).toMatch(/^Error: the price catalogue of the platform is invalid: /);
    expect(String(error)).toContain(field);
    expect(String(error).length).toBeLessThan(300);
    expect(String(error)).not.toContain("\n");
    const { not_checked = [] } = await options(bad(body), { topics: ["kafka-sizes"] });
    for (const line of not_checked) expect(line.length).toBeLessThan(300);
    expect(not_checked[0]).toContain("the price catalogue of the platform is invalid");
  });

  it("and so is any other catalogue", async () => {
    const body = { items: Array.from({ length: 100 }, () => ({ id: 1, properties: 2 })) };
    const { not_checked = [] } = await options(bad(body), { topics: ["locations", "images", "templates", "models"] });
    expect(not_checked.length).toBeGreaterThan(0);
    for (const line of not_checked) expect(line.length).toBeLessThan(300);
  });
});
