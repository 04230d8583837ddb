import { describe, expect, test } from "vitest";
import { decide } from "../../../../src/engine/decide/decide.ts";
import { EXTERNAL_ID, FINALIZER, INTENT, PUBLISHED } from "../../../../src/engine/state/names.ts";
import { createSignatures } from "../../../../src/engine/state/signatures.ts";
import { fakeClock } from "../../../fake-clock.ts";
import { API, fakePlatform } from "../../support/fake-platform.ts";
import { intentOf, objectOf } from "../../support/fixtures.ts";
import { accountOf, credentials, runEngine } from "../../support/running-engine.ts";
import { stage } from "../../support/stage.ts";
import { claim, claimed, dc, marked, owning, seal } from "./signed-objects.ts";

describe("a signing key", () => {
  const former = createSignatures({ keys: () => ["two"] });
  const block = (annotations: Record<string, string> = {}) =>
    objectOf("IPBlock", "a", {
      spec: { location: "de/txl", size: 1 },
      metadata: { name: "a", finalizers: [FINALIZER], annotations },
    });

  test("that was exchanged still counts for as long as it is there, and the new one signs", () => {
    const before = createSignatures({ keys: () => ["two"] });
    expect(claimed(owning("a", before))).toBe("d1");
    expect(owning("a").status).not.toEqual(owning("a", before).status);
    const secret = marked("s", PUBLISHED, { resource: "d1" }, before);
    expect(seal.read("Datacenter", secret, PUBLISHED)).toEqual({
      words: { resource: "d1" },
      verdict: "ours",
      current: false,
    });
  });

  test("signs at rest, once, the annotation that was written with a former key", async () => {
    const platform = fakePlatform();
    const id = platform.make("a", { properties: { name: "a", location: "de/txl", size: 1 } }, { path: "/ipblocks" });
    const owned = { id, parents: {}, account: "shop/main", endpoint: API };
    const written = former.mark("IPBlock", block(), EXTERNAL_ID, owned);
    const object = block({ [EXTERNAL_ID]: written });
    const clock = fakeClock();
    const { api } = await runEngine([credentials, accountOf("main"), object], { clock, platform, seal });
    await clock.advance(60_000);
    const now = api.get(object) ?? object;
    expect(seal.read("IPBlock", now, EXTERNAL_ID)).toEqual({
      words: expect.objectContaining(owned),
      verdict: "ours",
      current: true,
    });
    await clock.advance(3_600_000);
    expect(api.get(object)).toEqual(now);
    expect(platform.writes()).toEqual([]);
  });

  test("that is not there makes an object wait for a person, and nothing is created in its place", () => {
    const lost = createSignatures({ keys: () => ["lost"] });
    const both = { ...owning("a"), metadata: marked("a", EXTERNAL_ID, { ...claim, id: "d2" }, lost).metadata };
    const begun = marked("a", INTENT, intentOf(), lost);
    for (const object of [owning("a", lost), marked("a", EXTERNAL_ID, claim, lost), begun, both]) {
      const { contextOf } = stage([object], { seal });
      const { view } = contextOf("Datacenter/shop/a");
      expect(view.resource.claim).toBeUndefined();
      expect(decide(view)).toMatchObject({ step: "stall", reason: "SigningKeyUnknown" });
      expect(decide({ ...view, spec: { ...view.spec, adopt: "d1" } })).toMatchObject({
        step: "stall",
        reason: "SigningKeyUnknown",
      });
      const [spec, resource] = [
        { ...view.spec, deleting: true },
        { ...view.resource, hasFinalizer: true },
      ];
      expect(decide({ ...view, spec, resource })).toMatchObject({ step: "release", reason: "Retained" });
    }
  });

  test("that comes back finds everything as it was: what it signed is not written over", async () => {
    const lost = createSignatures({ keys: () => ["lost"] });
    const { pass, api } = stage([owning("a", lost)], { seal });
    await pass("Datacenter/shop/a");
    const after = api.get(dc("a"));
    expect(after?.status).toMatchObject({ conditions: [{ reason: "SigningKeyUnknown" }, {}] });
    expect(after && claimed(after, lost)).toBe("d1");
  });
});
