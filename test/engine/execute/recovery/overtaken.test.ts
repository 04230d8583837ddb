import { describe, expect, test } from "vitest";
import { execute } from "../../../../src/engine/execute/execute.ts";
import { claimOf } from "../../../../src/engine/state/object.ts";
import { isConflict } from "../../../../src/kube/client/errors.ts";
import type { KubeCall } from "../../../../src/kube/client/transport.ts";
import type { KubeObject } from "../../../../src/kube/resource.ts";
import { Retry } from "../../../../src/platform/answers/errors.ts";
import { fakeApiServer } from "../../support/fake-api-server.ts";
import { annotated, intending, intentOf, objectOf } from "../../support/fixtures.ts";
import { stage } from "../../support/stage.ts";

const spec = { name: "same", location: "de/txl" };
const KEY = "Datacenter/shop/a";
const theirs = { id: "dc-theirs", nonce: "theirs", account: "shop/main" };

// A frozen process continues, and its watch brings the writes of another one.
describe("a process that another one has overtaken", () => {
  test("does not close the other's intent when its own creation was refused", async () => {
    const object = objectOf("Datacenter", "a", { spec });
    const { platform, api, objects, pass } = stage([object]);
    platform.beforeEach(({ method }) => {
      if (method !== "POST") return;
      const stored = api.get(object) ?? object;
      const intent = intending("a", intentOf({ nonce: theirs.nonce }));
      objects
        .store("Datacenter")
        .put(api.put({ ...stored, metadata: { ...stored.metadata, ...intent }, status: theirs }));
      throw new Retry({ call: "POST", status: 0 }, "no");
    });
    await pass(KEY);
    expect(claimOf(api.get(object) ?? object)).toMatchObject({ id: theirs.id });
  });

  test("does not take away the other's claim when it forgets what is gone", async () => {
    const kept = { id: "dc-gone", parents: {}, account: "shop/main" };
    const object = objectOf("Datacenter", "a", {
      spec,
      metadata: annotated("a", kept),
      status: { ...kept, nonce: "n0" },
    });
    const api = fakeApiServer(object);
    const client = {
      ...api.client,
      async request<T>(call: KubeCall): Promise<T> {
        const answer = await api.client.request<T>(call);
        if (call.contentType !== "application/merge-patch+json") return answer;
        const stored: KubeObject = api.get(object) ?? object;
        all.objects.store("Datacenter").put(api.put({ ...stored, status: theirs }));
        return answer;
      },
    };
    const all = stage([object], { api: Object.create(api, { client: { value: client } }) });
    const forgetting = execute(all.deps, all.contextOf(KEY), { step: "forget" });
    expect(isConflict(await forgetting.catch((error: unknown) => error))).toBe(true);
    expect(claimOf(api.get(object) ?? object)).toMatchObject({ id: theirs.id });
  });
});
