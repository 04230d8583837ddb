import { describe, expect, test } from "vitest";
import { EXTERNAL_ID, INTENT } from "../../../../src/engine/state/names.ts";
import { claimOf } from "../../../../src/engine/state/object.ts";
import { createObjects } from "../../../../src/engine/state/objects.ts";
import { createSignatures } from "../../../../src/engine/state/signatures.ts";
import { trust } from "../../../../src/engine/status/trust.ts";
import { kinds } from "../../../../src/kinds/index.ts";
import type { KubeObject } from "../../../../src/kube/resource.ts";
import { annotated, datacenterSpec, intentOf } from "../../support/fixtures.ts";
import { claim, claimed, dc, keys, marked, owning } from "./signed-objects.ts";

describe("words that an administrator lets count without a key that is known", () => {
  const believing = createSignatures({ keys: () => keys, believes: () => true });
  const lost = createSignatures({ keys: () => ["lost"] });
  const shared = { ...claim, account: "ClusterAccount/shared" };
  const theirs = { ...claim, account: "other/main" };
  /** The id that counts for an object, with or without another object that names it. */
  const believed = (object: KubeObject, isNamed = false) => {
    const arrived = { ...object };
    believing.judge("Datacenter", arrived, () => isNamed);
    return claimOf(arrived)?.id;
  };

  test("are those without a signature, and those of a key that is lost", () => {
    expect(believed(dc("a", { status: claim }))).toBe("d1");
    expect(believed(owning("a", lost))).toBe("d1");
    expect(believed(marked("a", EXTERNAL_ID, claim, lost))).toBe("d1");
  });

  test("are never those of an object that uses a ClusterAccount or another one's Account, nor what was edited", () => {
    expect(believed(dc("a", { status: shared }))).toBeUndefined();
    expect(believed(owning("a", lost, shared))).toBeUndefined();
    expect(believed(marked("a", EXTERNAL_ID, theirs, lost))).toBeUndefined();
    const { status, ...object } = owning("a");
    expect(believed({ ...object, status: { ...Object(status), id: "d2" } })).toBeUndefined();
  });

  test("are never what another object names", () => {
    expect(believed(owning("a", lost), true)).toBeUndefined();
    expect(believed(marked("a", EXTERNAL_ID, claim, lost), true)).toBeUndefined();
  });

  test("begin no creation, and say nothing but what an object has", () => {
    const begun = { ...marked("a", INTENT, intentOf({ nonce: "another" }), lost), status: claim };
    expect(believed(begun)).toBeUndefined();
    const arrived = { ...owning("a", lost, { ...claim, request: { action: "delete" }, location: "de/txl" }) };
    believing.judge("Datacenter", arrived, () => false);
    expect(trust.get(arrived)).toMatchObject({ claim: "ours", request: "absent", facts: "absent" });
  });

  test("count on when they are signed and the annotation is not yet, also when the time is over", () => {
    const { metadata } = marked("a", EXTERNAL_ID, claim, lost);
    expect(claimed({ ...owning("a"), metadata })).toBe("d1");
    const another = marked("a", EXTERNAL_ID, { ...claim, id: "d2" }, lost);
    expect(claimed({ ...owning("a"), metadata: another.metadata })).toBeUndefined();
  });
});

describe("resources that objects name", () => {
  const lost = createSignatures({ keys: () => ["lost"] });
  const believing = createSignatures({ keys: () => keys, believes: () => true });
  const rivals: [string, KubeObject][] = [
    ["in a status by a lost key", owning("b", lost)],
    ["in a status by a known key", owning("b")],
    ["in an annotation without a signature", dc("b", { metadata: annotated("b", claim) })],
    ["as externalId", dc("b", { spec: { ...datacenterSpec, externalId: "d1" } })],
    ["as what came before", dc("b", { status: { previous: { id: "d1" } } })],
  ];

  test.each(rivals)("%s is not taken on trust by another one, and is without it", async (_, rival) => {
    for (const [others, id] of [
      [[rival], undefined],
      [[], "d1"],
    ] as const) {
      const objects = createObjects(kinds, believing, (error) => {
        throw error;
      });
      const store = objects.store("Datacenter");
      for (const each of [owning("a", lost), ...others]) store.put(each);
      // Before all objects are known, nothing is trusted.
      const idOfA = () => claimOf(objects.find("Datacenter/shop/a")?.object ?? dc("a"))?.id;
      expect(idOfA()).toBeUndefined();
      await objects.judgeAgain(() => undefined);
      expect(idOfA()).toBe(id);
    }
  });
});
