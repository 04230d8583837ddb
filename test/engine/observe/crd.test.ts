import { describe, expect, it } from "vitest";
import { z } from "zod";
import { customResourceDefinition } from "../../../src/cli/manifests/crd.ts";
import { kinds } from "../../../src/kinds/index.ts";
import { type Kind, usesAccount } from "../../../src/kinds/kind.ts";

/** A rule and its message: a text, or an expression that selects one. */
const rule = z
  .object({ rule: z.string(), message: z.string().optional(), messageExpression: z.string().optional() })
  .transform(({ rule, message, messageExpression }) => ({ rule, says: messageExpression ?? message ?? "" }));
const rules = z.array(rule).default([]);

/** The parts of a schema that these tests read. All other keys are kept. */
const schema = z.looseObject({
  type: z.string().optional(),
  description: z.string().optional(),
  get properties() {
    return z.record(z.string(), schema).optional();
  },
  get items() {
    return schema.optional();
  },
  get additionalProperties() {
    return schema.optional();
  },
  "x-kubernetes-validations": rules,
  "x-kubernetes-list-type": z.string().optional(),
});
type Schema = z.output<typeof schema>;

const definition = z.object({
  spec: z.object({
    scope: z.string(),
    names: z.object({ shortNames: z.array(z.string()), categories: z.array(z.string()).optional() }),
    versions: z.tuple([
      z.object({
        subresources: z.object({ status: z.object({}) }),
        additionalPrinterColumns: z.array(
          z.object({ name: z.string(), jsonPath: z.string(), priority: z.int().optional() }),
        ),
        schema: z.object({
          openAPIV3Schema: schema.extend({ properties: z.object({ spec: schema, status: schema }) }),
        }),
      }),
    ]),
  }),
});

function read(kind: Kind) {
  const { spec } = definition.parse(customResourceDefinition(kind));
  const [version] = spec.versions;
  return { root: version.schema.openAPIV3Schema, ...spec, ...version, ...version.schema.openAPIV3Schema.properties };
}

/** Every field below a schema, by its path. */
function fields(node: Schema, path: string): [path: string, field: Schema][] {
  return [
    [path, node],
    ...Object.entries(node.properties ?? {}).flatMap(([name, child]) => fields(child, `${path}.${name}`)),
    ...(node.items ? fields(node.items, `${path}[]`).slice(1) : []),
  ];
}

const each = kinds.map((kind) => ({ kind, name: kind.kind }));

describe.each(each)("the definition of $name", ({ kind }) => {
  const { root, scope, names, subresources, additionalPrinterColumns, spec, status } = read(kind);

  it("keeps every list of spec whole: server-side apply would drop an emptied one that it merges", () => {
    const merged = fields(spec, "spec").filter(([, { type, "x-kubernetes-list-type": how = "atomic" }]) => {
      return type === "array" && how !== "atomic";
    });
    expect(merged.map(([path]) => path)).toEqual([]);
  });

  it("has no default beneath a list: whoever applies the list again would never be done", () => {
    const beneath = fields(spec, "spec").filter(([path, field]) => path.includes("[]") && "default" in field);
    expect(beneath.map(([path]) => path)).toEqual([]);
  });

  it("keeps every object in status whole: the operator writes it at once, and managedFields stay short", () => {
    const objects = Object.entries(status.properties ?? {}).filter(([, { type }]) => type === "object");
    const merged = objects.filter(([, field]) => field["x-kubernetes-map-type"] !== "atomic");
    expect(merged.map(([name]) => name)).toEqual([]);
    expect(status.properties?.conditions).toMatchObject({ "x-kubernetes-list-type": "map" });
  });

  it("describes every field of spec and status, at every depth", () => {
    const silent = [...fields(spec, "spec"), ...fields(status, "status")]
      .filter(([, { description }]) => !description?.endsWith(".") && !description?.endsWith("…"))
      .map(([path]) => path);
    expect(silent).toEqual([]);
  });

  it("is namespaced unless its kind says otherwise, has short names, and belongs to the category mooring in a namespace", () => {
    expect(scope).toBe(kind.scope ?? "Namespaced");
    expect(names.shortNames.length).toBeGreaterThan(0);
    // A deletion of all objects of a namespace must not reach beyond it.
    expect(names.categories ?? []).toEqual(scope === "Cluster" ? [] : ["mooring"]);
  });

  it("keeps status apart from spec", () => {
    expect(subresources).toEqual({ status: {} });
  });

  it("shows how it stands in `kubectl get`, and with -o wide its id, since when, and the message", () => {
    const columns = (wide: boolean) =>
      additionalPrinterColumns.filter(({ priority }) => (priority === 1) === wide).map(({ name }) => name);
    expect(columns(false).slice(0, 2)).toEqual(["Ready", "Reason"]);
    expect(columns(false).at(-1)).toBe("Age");
    expect(columns(false)[2] === "State").toBe(kind.resource !== undefined);
    expect(columns(true)).toEqual(expect.arrayContaining(["Since", "Message", ...(kind.resource ? ["Id"] : [])]));
    // A long text must not push the other columns aside.
    expect(additionalPrinterColumns.at(-1)?.name).toBe("Message");
  });

  it("shows only fields that exist", () => {
    const known = new Set([...fields(spec, ".spec"), ...fields(status, ".status")].map(([path]) => path));
    const paths = additionalPrinterColumns.map(({ jsonPath }) => jsonPath);
    const unknown = paths.filter((path) => !path.includes("[") && !path.startsWith(".metadata.") && !known.has(path));
    expect(unknown).toEqual([]);
  });

  it("makes an object not ready before the operator has seen it", () => {
    const pending = { type: "Ready", status: "Unknown", reason: "Pending" };
    expect(status.default).toEqual({ conditions: [expect.objectContaining(pending)] });
  });

  it("has a message for every rule", () => {
    const all = fields(spec, "spec").flatMap(([, field]) => field["x-kubernetes-validations"]);
    expect(all.filter(({ says }) => says.length < 10)).toEqual([]);
  });

  it("refuses a change of accountRef exactly where the operator works with an Account", () => {
    const refused = root["x-kubernetes-validations"].some(({ says }) => says.includes("accountRef cannot be changed"));
    expect(refused).toBe(usesAccount(kind));
  });

  it("has few rules over a whole object: they are evaluated at every write, also of status", () => {
    // Names, observed fields, and fields whose rules depend on status.
    expect(root["x-kubernetes-validations"].length).toBeLessThanOrEqual(3);
    expect(spec["x-kubernetes-validations"].length).toBeLessThanOrEqual(1);
    expect(fields(status, "status").flatMap(([, field]) => field["x-kubernetes-validations"])).toEqual([]);
  });

  it("reads few fields in its rules: each read walks all fields that its object can have", () => {
    const reads = (path: RegExp, { rule }: { rule: string }) => rule.match(path)?.length ?? 0;
    const ofField = fields(spec, "spec")
      .flatMap(([, field]) => [field, ...(field.items ? [field.items] : [])])
      .flatMap(({ properties = {}, "x-kubernetes-validations": all }) =>
        all.map((each) => reads(/\b(self|oldSelf)\.\??\w/g, each) * Object.keys(properties).length),
      );
    // The part that matters only for a change comes last in the rule.
    const always = ({ rule }: { rule: string }) => ({ rule: rule.split(" || (oldSelf.?status")[0] ?? "" });
    const ofObject = root["x-kubernetes-validations"].map(
      (each) => reads(/\b(self|oldSelf)\.spec\.\??\w/g, always(each)) * Object.keys(spec.properties ?? {}).length,
    );
    expect([...ofField, ...ofObject].reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(2600);
  });
});

describe("a default beneath a list", () => {
  it("is the operator's, and told in the description", () => {
    const nics = z.array(z.object({ dhcp: z.boolean().default(true).describe("Whether DHCP is used.") }));
    const datacenter = kinds.find(({ kind }) => kind === "Datacenter");
    if (!datacenter) throw new Error("no Datacenter");
    const { spec } = read({ ...datacenter, spec: z.object({ nics, size: z.int().default(3) }), rules: [] });
    expect(spec.properties?.nics?.items).toMatchObject({
      properties: { dhcp: { type: "boolean", description: "Whether DHCP is used. Default: true." } },
    });
    expect(spec.properties?.size).toMatchObject({ default: 3 });
  });
});

describe("the short names", () => {
  it("belong to one kind each", () => {
    const all = kinds.flatMap(({ shortNames, plural }) => [...shortNames, plural]);
    expect(new Set(all).size).toBe(all.length);
  });
});

describe("an immutable field", () => {
  const ruleFor = (immutable: Record<string, string>, more: Partial<Kind> = {}) => {
    const datacenter = kinds.find(({ kind }) => kind === "Datacenter");
    if (!datacenter) throw new Error("no Datacenter");
    const { root } = read({ ...datacenter, rules: [], immutable, ...more });
    const [rule = { rule: "", says: "" }, ...others] = root["x-kubernetes-validations"].filter(({ rule }) =>
      rule.includes("oldSelf.spec"),
    );
    expect(others).toEqual([]);
    return rule;
  };

  it("may neither change nor come nor go, unless the resource may be replaced", () => {
    const { rule, says } = ruleFor({ region: "it cannot move" });
    expect(rule).toContain("([self.spec.?region] == [oldSelf.spec.?region])");
    expect(rule).toContain("|| self.spec.replacePolicy == 'WhenNeeded'");
    expect(says).toContain(
      "region cannot be changed: it cannot move; keep it, or set replacePolicy: WhenNeeded, which deletes the Datacenter and creates a new one",
    );
  });

  it("is fixed when there is a resource: before, everything in spec can be corrected", () => {
    const { rule } = ruleFor({ region: "it cannot move" });
    expect(rule).toMatch(/^\(.*\) \|\| !has\(oldSelf\.status\) \|\| !has\(oldSelf\.status\.id\) \|\| /);
  });

  it("can be corrected where the object owns nothing, or the operator has found that spec does not fit", () => {
    const { rule } = ruleFor({ region: "it cannot move" });
    expect(rule).toContain("|| oldSelf.status.?internal.?onlyObserved.orValue(false) ||");
    for (const reason of ["ImmutableFieldChanged", "DataLossNotAllowed", "Drifted"]) expect(rule).toContain(reason);
  });

  it("shares one rule with all others, which tells of every one that was changed", () => {
    const { says } = ruleFor({ region: "why", zone: "why", "a.b": "why" });
    for (const field of ["region", "zone", "a.b"]) expect(says).toContain(`${field} cannot be changed: why`);
  });

  it("inside an object is compared when the object has changed, and only while it is there before and after", () => {
    const [self, old] = ["self.spec", "oldSelf.spec"];
    expect(ruleFor({ "a.b": "why", "a.c": "why" }).rule).toContain(
      `[${self}.?a] == [${old}.?a] || !has(${self}.a) || !has(${old}.a) || (` +
        `([${self}.?a.?b] == [${old}.?a.?b]) && ([${self}.?a.?c] == [${old}.?a.?c]))`,
    );
  });

  it("deeper down has a guard for every object above it", () => {
    expect(ruleFor({ "a.b.c": "why" }).rule).toContain(
      "|| !has(self.spec.a) || !has(oldSelf.spec.a) || ((!has(self.spec.a.b) || !has(oldSelf.spec.a.b) || ",
    );
  });

  it("that grows may come, go and grow", () => {
    const { rule, says } = ruleFor({}, { grows: ["size"] });
    expect(rule).toContain("|| !has(oldSelf.spec.size) || self.spec.size >= oldSelf.spec.size");
    expect(says).toContain("size can only grow");
  });

  it("the Account can never change", () => {
    const { rule, says } = ruleFor({});
    expect(rule).toMatch(/^\(\(\(\[self\.spec\.\?accountRef\] == \[oldSelf\.spec\.\?accountRef\]\)\)\) \|\| !has/);
    expect(says).toMatch(/^accountRef cannot be changed/);
  });
});
