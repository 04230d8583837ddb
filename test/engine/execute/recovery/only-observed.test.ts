import { describe, expect, test } from "vitest";
import { API } from "../../support/fake-platform.ts";
import { objectOf } from "../../support/fixtures.ts";
import { A, body, naming, open } from "./adoption.ts";

describe("an object that has only observed a resource", () => {
  const observed = { id: "dc-theirs-0", account: "shop/main", contract: 1, endpoint: API, onlyObserved: true };

  test("owns nothing of it when it is to manage it: it adopts it first", async () => {
    const object = naming("a", { managementPolicy: "Observe" });
    const { pass, api, objects, id, sync } = open(object);
    await pass(A);
    expect(api.get(object)?.status).toMatchObject({ id, internal: { onlyObserved: true } });
    const stored = api.get(object) ?? object;
    api.put({ ...stored, spec: { ...Object(stored.spec), managementPolicy: "Manage" } });
    sync();
    expect(objects.owned(A)).toBeUndefined();
    expect((await pass(A)).decision).toEqual({ step: "adopt", id });
    expect(objects.owned(A)).toMatchObject({ id });
    expect(objects.owned(A)).not.toHaveProperty("onlyObserved");
  });

  test("owns nothing of it either when it is to manage it and spec does not fit: that can be corrected", async () => {
    const object = naming("a", { managementPolicy: "Observe", location: "de/fra" });
    const { pass, api, objects, id, sync } = open(object);
    await pass(A);
    const edit = (change: object) => {
      const stored = api.get(object) ?? object;
      const metadata = { ...stored.metadata, generation: (stored.metadata.generation ?? 1) + 1 };
      api.put({ ...stored, metadata, spec: { ...Object(stored.spec), ...change } });
      sync();
    };
    edit({ managementPolicy: "Manage" });
    await pass(A);
    expect(objects.owned(A)).toBeUndefined();
    expect(api.get(object)?.status).toMatchObject({ id, internal: { onlyObserved: true } });
    edit({ location: "de/txl" });
    await pass(A);
    expect(objects.owned(A)).toMatchObject({ id });
  });

  test("shows whatever spec names by now", async () => {
    const object = naming("a", { managementPolicy: "Observe" });
    const { pass, api, platform, owned, sync } = open(object);
    await pass(A);
    const other = platform.make("other", body);
    const stored = api.get(object) ?? object;
    api.put({ ...stored, spec: { ...Object(stored.spec), externalId: other } });
    sync();
    expect((await pass(A)).decision).toEqual({ step: "adopt", id: other });
    expect(owned(A)).toBe(other);
  });

  test("does not get what another object has by now, and both are told", async () => {
    const owner = objectOf("Datacenter", "owner", { spec: { location: "de/txl" }, status: { id: "dc-theirs-0" } });
    const sleeper = { ...naming("a", { externalId: undefined }), status: observed };
    const { pass, objects, events } = open(sleeper, owner);
    expect((await pass(A)).decision).toMatchObject({ step: "adopt" });
    expect(objects.owned(A)).toBeUndefined();
    expect(events).toEqual([
      expect.stringContaining("is also claimed by Datacenter/shop/a"),
      expect.stringContaining("belongs to Datacenter/shop/owner"),
    ]);
  });

  test("keeps what it had created, unless another object has it by now", async () => {
    const spec = { location: "de/txl", name: "theirs", managementPolicy: "Observe" };
    const status = { id: "dc-theirs-0", account: "shop/main", contract: 1, endpoint: API, nonce: "n" };
    const object = objectOf("Datacenter", "a", { spec, status });
    const taker = naming("b");
    const all = open(object, taker);
    await all.passes(A);
    expect(all.api.get(object)?.status).not.toHaveProperty("internal.onlyObserved");
    all.api.put({ ...taker, status: { ...status, nonce: undefined } });
    all.sync();
    await all.clock.advance(2000);
    await all.passes(A);
    expect(all.api.get(object)?.status).toMatchObject({ internal: { onlyObserved: true } });
  });
});
