import { describe, expect, test } from "vitest";
import { customResourceDefinition } from "../../../../src/cli/manifests/crd.ts";
import { fixedFields, replacement } from "../../../../src/engine/observe/spec/fixed-fields.ts";
import type { Subject } from "../../../../src/engine/observe/view.ts";
import { server } from "../../../../src/kinds/compute/server/server.ts";
import { schemaIn } from "../../../../src/plan/schema/objects.ts";
import { problems, withDefaults } from "../../../../src/plan/schema/validate.ts";

const ID = "7ce5e062-034e-4dbc-9ed9-4be5174e1523";
const schema = schemaIn(customResourceDefinition(server));

const written = (spec: object) => ({
  apiVersion: "mooring.dev/v1alpha1",
  kind: "Server",
  metadata: { name: "web", generation: 1 },
  spec: { datacenterId: ID, externalId: ID, ...spec },
});

const stored = (spec: object, internal: object = { adoptedAt: "2026-03-01T00:00:00Z" }) =>
  withDefaults(schema, { ...written(spec), status: { id: ID, internal } });

/** The replacement that a change of spec asks for, if the former spec was recorded at adoption or at creation. */
function asked(former: object, spec: object, status: object = {}) {
  const object = withDefaults(schema, written(spec));
  const fixed = fixedFields(server, withDefaults(schema, written(former)) as Subject["object"]);
  return replacement({ kind: server, object, status: { fixed, id: ID, ...status } } as unknown as Subject);
}

describe("an immutable field that an adopted object left to its default", () => {
  test("may be set to the value on the platform", () => {
    expect(problems(schema, stored({ type: "VCPU" }), stored({}))).toEqual([]);
    expect(problems(schema, stored({ availabilityZone: "ZONE_1" }), stored({}))).toEqual([]);
  });

  test("is no change that needs a replacement", () => {
    expect(asked({}, { type: "VCPU" })).toBeUndefined();
    expect(asked({}, { type: "VCPU", replacePolicy: "WhenNeeded" })).toBeUndefined();
  });

  test("is fixed once it has another value, and in an object that created its resource", () => {
    expect(problems(schema, stored({ type: "ENTERPRISE" }), stored({ type: "VCPU" }))[0]).toContain("type cannot be");
    expect(problems(schema, stored({ type: "VCPU" }, {}), stored({}, {}))[0]).toContain("type cannot be changed");
    expect(asked({ type: "VCPU" }, {})).toMatchObject({ fields: ["type"] });
    expect(asked({}, { type: "VCPU" }, { nonce: "a" })).toMatchObject({ fields: ["type"] });
  });
});

describe("a field that is used at the creation only", () => {
  const cube = (templateName: string) => ({ type: "CUBE", templateName });

  test("may be corrected in an object that names what it has adopted", () => {
    expect(problems(schema, stored(cube("Basic Cube XS")), stored(cube("Basic Cube S")))).toEqual([]);
    expect(asked(cube("Basic Cube S"), cube("Basic Cube XS"), { adoptedAt: "2026-03-01T00:00:00Z" })).toBeUndefined();
    const other = { ...cube("Basic Cube XS"), replacePolicy: "WhenNeeded" };
    expect(asked(cube("Basic Cube S"), other, { adoptedAt: "2026-03-01T00:00:00Z" })).toBeUndefined();
  });

  test("is fixed in one that created its resource", () => {
    const created = (name: string) => stored(cube(name), {});
    expect(problems(schema, created("Basic Cube XS"), created("Basic Cube S"))[0]).toContain("templateName cannot be");
    expect(asked(cube("Basic Cube S"), cube("Basic Cube XS"), { nonce: "a" })?.fields).toEqual(["templateName"]);
  });
});
