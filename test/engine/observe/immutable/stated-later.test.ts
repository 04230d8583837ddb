import { describe, expect, it, test } from "vitest";
import { customResourceDefinition } from "../../../../src/cli/manifests/crd.ts";
import { fixedFields, replacement, withStated } from "../../../../src/engine/observe/spec/fixed-fields.ts";
import type { Subject } from "../../../../src/engine/observe/view.ts";
import { kinds } from "../../../../src/kinds/index.ts";
import { hasResource, type ResourceKind } from "../../../../src/kinds/kind.ts";
import { schemaIn } from "../../../../src/plan/schema/objects.ts";
import { problems, withDefaults } from "../../../../src/plan/schema/validate.ts";
import { inputs, nothing } from "../../../kinds/mapped.ts";
import { otherId, someId } from "../../../subjects/manifests.ts";
import { tables } from "./tables.ts";

const all = kinds.filter(hasResource);
const kindOf = (name: string): ResourceKind => {
  const kind = all.find((each) => each.kind === name);
  if (!kind) throw new Error(`no kind ${name}`);
  return kind;
};

test("every immutable field of every kind is in these tables", () => {
  const inTables = Object.entries(tables).map(([kind, { rows, hidden = [] }]) => [
    kind,
    [...rows.map(({ field }) => field), ...hidden].sort(),
  ]);
  const inKinds = all.map(({ kind, immutable }) => [kind, Object.keys(immutable).sort()]);
  expect(Object.fromEntries(inTables)).toEqual(Object.fromEntries(inKinds));
});

const cases = Object.entries(tables).flatMap(([name, table]) =>
  table.rows.flatMap((row) => {
    const kind = kindOf(name);
    const standard = Object(withDefaults(schemaIn(customResourceDefinition(kind)), { spec: {} })).spec[row.field];
    // A default is sent at a creation, and so is no field that spec has left out.
    const made = standard === undefined ? [{ how: "created", internal: { nonce: "n" } }] : [];
    const adopted = { how: "adopted", internal: { adoptedAt: "2026-03-01T00:00:00Z" } };
    return [adopted, ...made].map(({ how, internal }) => ({
      ...row,
      title: `${name}.${row.field}`,
      kind,
      table,
      how,
      internal,
    }));
  }),
);

describe.each(cases)("$title of a resource that was $how without it", ({ kind, table, internal, ...row }) => {
  const { base = table.base ?? {}, field, there, other } = row;
  const { spec = (value: unknown) => ({ [field]: value }) } = row;
  const raw: object = { ...table.item, ...row.item, ...(row.item && { id: someId }) };
  const schema = schemaIn(customResourceDefinition(kind));
  const shown = kind.resource.comparison.facts(raw, nothing);
  const objectOf = (more: object): Subject["object"] =>
    Object(
      withDefaults(schema, {
        apiVersion: "mooring.dev/v1alpha1",
        kind: kind.kind,
        metadata: { name: "web", generation: 1 },
        spec: { externalId: someId, ...base, ...more },
        status: { ...shown, id: someId, internal },
      }),
    );
  const former = objectOf({});
  const refs = (value: unknown) => {
    const near = { datacenter: { id: someId, status: {} }, lan: { id: "1", status: {} } };
    const far = { datacenter: { id: otherId, status: {} }, lan: { id: "2", status: {} } };
    const role = field.replace("connection.", "").replace("Ref", "");
    return field.endsWith("Ref") && value === other
      ? { ...near, ...Object.fromEntries([[role, Object(far)[role]]]) }
      : near;
  };
  const byId = (value: unknown) => (field.startsWith("connection.") && field.endsWith("Id") ? idsOf(spec(value)) : {});
  const idsOf = (given: object) => {
    const { datacenterId, lanId } = Object(given).connection;
    return { datacenter: { id: datacenterId, status: {} }, lan: { id: lanId, status: {} } };
  };
  const subjectOf = (value: unknown, more: object = {}) => {
    // An object that names what it has created is not replaced either.
    const unnamed = "nonce" in internal && { externalId: undefined };
    const object = objectOf({ ...spec(value), ...unnamed, ...more });
    const status = { fixed: fixedFields(kind, former), id: someId, ...internal };
    return { kind, object, status, desired: kind.resource.desire(object.spec) } as unknown as Subject;
  };
  const given = (value: unknown) => inputs({ parents: {}, refs: { ...refs(value), ...byId(value) } });
  const judged = (value: unknown, more: object = {}) =>
    replacement(subjectOf(value, more), { raw, inputs: given(value) });
  const refusals = (value: unknown) => problems(schema, objectOf(spec(value)), former);

  it("may be set to what is there", () => {
    expect(refusals(there)).toEqual([]);
    expect(judged(there)).toBeUndefined();
    expect(judged(there, { replacePolicy: "WhenNeeded" })).toBeUndefined();
  });

  it("is on record from then on", () => {
    const { object } = subjectOf(there);
    expect(withStated(subjectOf(there))).toMatchObject({ [field]: fixedFields(kind, object)[field] });
  });

  it.skipIf(other === undefined)(
    "is refused with another value, and the refusal has the one that is there, or says where it is",
    () => {
      const found = row.found ?? String(there);
      const [refusal] = refusals(other);
      if (refusal !== undefined) {
        expect(refusal).toContain(`${field} cannot be changed`);
        const where = field === "name" ? "it is that of the object" : `status.${field} has it`;
        expect(refusal).toContain(`what is on the platform: ${where}`);
        return;
      }
      const { fields, verdict, late } = judged(other) ?? {};
      expect(fields).toEqual([field]);
      expect(verdict).toBe("adoptedAt" in internal ? "kept" : "forbidden");
      expect(late?.drift).toEqual([expect.objectContaining({ found })]);
    },
  );

  it.skipIf(other === undefined)("leads to no replacement of what was adopted, and to one of what was created", () => {
    const { verdict } = judged(other, { replacePolicy: "WhenNeeded" }) ?? {};
    const { holdsData } = kind.resource.destruction;
    const allowed = holdsData ? { allowedBy: "true" } : "allowed";
    expect(verdict).toEqual("adoptedAt" in internal ? "kept" : allowed);
    const complete = judged(other, { replacePolicy: "WhenNeeded", externalId: undefined });
    expect(complete?.verdict).toEqual(allowed);
  });
});
