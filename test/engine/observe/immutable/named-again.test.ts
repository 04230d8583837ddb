import { describe, expect, it, test } from "vitest";
import { customResourceDefinition } from "../../../../src/cli/manifests/crd.ts";
import { fixedFields, replacement } from "../../../../src/engine/observe/spec/fixed-fields.ts";
import type { Subject } from "../../../../src/engine/observe/view.ts";
import { kinds } from "../../../../src/kinds/index.ts";
import { schemaIn } from "../../../../src/plan/schema/objects.ts";
import { problems, withDefaults } from "../../../../src/plan/schema/validate.ts";
import { subjects } from "../../../subjects/index.ts";
import { otherId, patched, someId } from "../../../subjects/manifests.ts";
import { fakePlatform } from "../../support/fake-platform.ts";
import { clusterAccountOf, objectOf } from "../../support/fixtures.ts";
import { type Life, live, readyOf } from "../../support/lives.ts";
import { stage } from "../../support/stage.ts";

const kindOf = (name: string) => kinds.find(({ kind }) => kind === name);
const naming = subjects.filter(({ kind }) => kindOf(kind)?.spec.shape.externalId);

describe.each(naming)("a $kind that has its resource and does not name it", ({ kind: name, spec }) => {
  const kind = kindOf(name);
  const schema = kind && schemaIn(customResourceDefinition(kind));
  const [own, other] = name === "Lan" ? ["12", "13"] : [someId, otherId];
  /** The refusals of a change from one externalId to another. */
  const refusals = (from: string | undefined, to: string) => {
    const stored = (externalId: string | undefined) => ({
      ...Object(withDefaults(schema, patched({ kind: name, spec: { ...spec, externalId } }, "shop", "web"))),
      status: { id: own, internal: {} },
    });
    return problems(schema, stored(to), stored(from));
  };

  it("may name it again, in any case", () => {
    expect(refusals(undefined, own)).toEqual([]);
    expect(refusals(undefined, own.toUpperCase())).toEqual([]);
    expect(refusals(own, own.toUpperCase())).toEqual([]);
    expect(refusals(other, own)).toEqual([]);
  });

  it("may name no other", () => {
    const refusal = "externalId cannot be set or changed while the object has a resource";
    expect(refusals(undefined, other)).toEqual([expect.stringContaining(refusal)]);
    expect(refusals(own, other)).toEqual([expect.stringContaining(refusal)]);
  });
});

describe("an object that names the resource that it has created", () => {
  /** Its reason and what the platform was told, after spec was changed. */
  async function changed(more: object, adoption: "None" | "Any" = "None") {
    const accountRef = { kind: "ClusterAccount", name: "shared" };
    const spec = { accountRef, location: "de/txl", name: "a" };
    const object = objectOf("Datacenter", "a", { spec });
    const shared = clusterAccountOf("shared", { default: true, namespaces: { selector: {} } });
    const platform = fakePlatform();
    const all = stage([shared, object], { platform });
    const handle = all.accounts.get("ClusterAccount/shared");
    if (handle) all.accounts.put({ ...handle, adoption });
    const life: Life = { all, key: "Datacenter/shop/a", object, beforeEach: platform.beforeEach };
    await live(life, 60);
    const before = all.api.get(object) ?? object;
    const { id } = Object(before.status);
    expect(readyOf(life)?.reason).toBe("Available");
    const written = () => platform.calls.filter((call) => !/^GET/.test(String(call))).length;
    const first = written();
    all.api.put({
      ...before,
      spec: { ...spec, externalId: id, ...more },
      metadata: { ...before.metadata, generation: 2 },
    });
    await live(life, 60);
    return { reason: readyOf(life)?.reason, writes: written() - first, owned: all.objects.owned(life.key)?.id === id };
  }

  test("stays Ready: it adopts nothing, whatever its Account allows", async () => {
    expect(await changed({})).toEqual({ reason: "Available", writes: 0, owned: true });
    expect(await changed({}, "Any")).toEqual({ reason: "Available", writes: 0, owned: true });
  });

  test("may also only observe it", async () => {
    const { reason, writes } = await changed({ managementPolicy: "Observe" });
    expect({ reason, writes }).toEqual({ reason: "Observed", writes: 0 });
  });

  test("is not replaced, and is told of every field that it cannot change", () => {
    const kind = kindOf("Server");
    const judged = (externalId: string | undefined) => {
      const of = (more: object) => objectOf("Server", "web", { spec: { datacenterId: someId, ...more } });
      const fixed = kind && fixedFields(kind, of({ type: "CUBE", templateName: "Basic Cube XS" }));
      const spec = { type: "VCPU", templateName: "Basic Cube S", replacePolicy: "WhenNeeded", externalId };
      const status = { fixed, id: someId, nonce: "n" };
      return replacement({ kind, object: of(spec), status } as unknown as Subject);
    };
    expect(judged(someId)).toMatchObject({ verdict: "kept", fields: ["type", "templateName"] });
    expect(judged(undefined)?.verdict).toEqual({ allowedBy: "true" });
  });
});
