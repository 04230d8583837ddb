import { describe, expect, test } from "vitest";
import { FINALIZER, ROTATE_AT } from "../../../src/engine/state/names.ts";
import { KubeError } from "../../../src/kube/client/errors.ts";
import { isDryRun } from "../support/fake-api-server.ts";
import { objectOf } from "../support/fixtures.ts";
import { keyless, type Life, live, ownedBlock, readyOf } from "../support/lives.ts";
import { stage } from "../support/stage.ts";

const account = "shop/main";
describe("in a namespace that is being deleted", () => {
  const terminating = <L extends Life>(life: L): L => {
    life.all.terminating.add("shop");
    return life;
  };

  test("nothing is created", async () => {
    const object = objectOf("IPBlock", "a", { spec: { location: "de/txl", size: 1 } });
    const all = stage([object]);
    const life = terminating({ all, object, key: "IPBlock/shop/a", beforeEach: all.platform.beforeEach });
    await live(life, 60);
    expect(all.platform.calls).toEqual([]);
    expect(readyOf(life)).toMatchObject({ reason: "NamespaceTerminating" });
  });

  test("no key is renewed, missing or asked for, and the one there is works on", async () => {
    for (const annotations of [{}, { [ROTATE_AT]: "now" }]) {
      const life = terminating(keyless({ metadata: { name: "a", finalizers: [FINALIZER], annotations } }));
      await live(life, 120);
      expect(life.pipelines.writes()).toEqual([]);
      expect(life.all.api.get(objectOf("Secret", "a-metricpipeline"))).toBeUndefined();
      expect(life.pipelines.isGood("the-secret-key-1")).toBe(true);
    }
  });

  test("nothing is replaced", async () => {
    const life = terminating(
      ownedBlock(false, {
        spec: { location: "de/fra", size: 1, replacePolicy: "WhenNeeded" },
        metadata: { name: "a", finalizers: [FINALIZER], annotations: { "mooring.dev/allow-data-loss": "true" } },
        status: { id: "dc-a-0", account, nonce: "n0", fixed: { location: "other", size: "other" } },
      }),
    );
    await live(life, 60);
    expect(life.all.platform.writes()).toEqual([]);
  });

  test("a deleted object goes", async () => {
    const life = terminating(ownedBlock(true));
    await live(life, 60);
    expect(life.all.platform.items.size).toBe(0);
    expect(life.all.api.get(life.object)).toBeUndefined();
  });
});

describe("a key for which the API server would not take the Secret", () => {
  const refused = () =>
    new KubeError({ status: 403, reason: "Forbidden", message: "unable to create new content in namespace shop" });

  test("is not renewed: the one before works on, and the object says why", async () => {
    const life = keyless();
    life.all.api.beforeEach((call) => {
      if (call.path.includes("/secrets") && call.method !== "GET") throw refused();
    });
    const asked = () => life.all.api.calls.filter(isDryRun).length;
    await live(life, 120);
    expect(life.pipelines.writes()).toEqual([]);
    expect(life.pipelines.isGood("the-secret-key-1")).toBe(true);
    expect(readyOf(life)).toMatchObject({ reason: "SecretNotWritable" });
    expect(readyOf(life)?.message).toContain("unable to create new content");
    expect(asked()).toBeGreaterThan(2);
    expect(asked()).toBeLessThan(12);
  });

  test("is not made with a creation either", async () => {
    const life = keyless({ status: {} });
    life.pipelines.items.clear();
    life.all.api.beforeEach((call) => {
      if (isDryRun(call)) throw refused();
    });
    await live(life, 60);
    expect(life.pipelines.writes()).toEqual([]);
    expect(readyOf(life)).toMatchObject({ reason: "SecretNotWritable" });
  });
});
