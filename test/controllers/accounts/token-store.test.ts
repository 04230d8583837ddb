import { describe, expect, test } from "vitest";
import { createTokenStore, type TokenRecord, tokenSecretName } from "../../../src/controllers/accounts/token-store.ts";
import { isConflict } from "../../../src/kube/client/errors.ts";
import { fakeApiServer } from "../../engine/support/fake-api-server.ts";
import { objectOf } from "../../engine/support/fixtures.ts";
import { fakeClock } from "../../fake-clock.ts";

const HOME = "mooring-system";
const recordOf = (account: string, id?: string): TokenRecord => ({
  account,
  username: "ops@example.org",
  endpoint: "https://api.example.org",
  count: 1,
  unclaimed: [],
  ...(id !== undefined && { current: { id, issuedAt: 1, expiresAt: 2 } }),
});

function open() {
  const api = fakeApiServer();
  const clock = fakeClock();
  const kept = createTokenStore({ client: api.client, clock, guard: () => {} }, HOME);
  const secretOf = (account: string) => {
    const metadata = { name: tokenSecretName(account), namespace: HOME };
    return api.get(objectOf("Secret", metadata.name, { apiVersion: "v1", metadata }));
  };
  return { api, clock, kept, secretOf };
}

describe("the tokens of Accounts", () => {
  test("are in a Secret for each Account, with their labels", async () => {
    const { kept, secretOf } = open();
    await kept.write("shop/a", recordOf("shop/a", "t1"), "value-a", "");
    await kept.write("shop/b", recordOf("shop/b", "t2"), "value-b", "");
    expect(await kept.read("shop/a")).toMatchObject({ record: { current: { id: "t1" } }, token: "value-a" });
    expect(await kept.read("shop/b")).toMatchObject({ record: { current: { id: "t2" } }, token: "value-b" });
    const labels = { "app.kubernetes.io/managed-by": "mooring", "mooring.dev/account-token": "true" };
    expect(secretOf("shop/a")?.metadata).toMatchObject({ labels });
    expect(Object.keys(Object(secretOf("shop/a")?.data))).toEqual(["token"]);
  });

  test("are known to all without their values, by one list that is shared for a while", async () => {
    const { kept, api, clock } = open();
    await kept.write("shop/a", recordOf("shop/a", "t1"), "value-a", "");
    const lists = () => api.calls.filter(({ method, query }) => method === "GET" && query?.labelSelector);
    expect(await kept.all(1000)).toEqual([recordOf("shop/a", "t1")]);
    await clock.advance(1000);
    await kept.all(1000);
    expect(lists()).toHaveLength(1);
    expect(lists()[0]).toMatchObject({ accept: expect.stringContaining("as=PartialObjectMetadataList") });
    await clock.advance(1);
    await kept.all(1000);
    await kept.all(0);
    await clock.advance(1);
    await kept.all(0);
    expect(lists()).toHaveLength(3);
  });

  test("are none where the API server answers an empty list with null, as it does for metadata", async () => {
    const { api, clock } = open();
    const client: typeof api.client = { ...api.client, request: async () => JSON.parse('{"items":null}') };
    expect(await createTokenStore({ client, clock, guard: () => {} }, HOME).all(0)).toEqual([]);
  });

  test("are listed again after a list that failed", async () => {
    const { kept, api } = open();
    api.beforeEach(() => {
      throw new Error("no answer");
    });
    await expect(kept.all(1000)).rejects.toThrow("no answer");
    api.beforeEach(() => {});
    expect(await kept.all(1000)).toEqual([]);
  });

  test("have one writer at a time", async () => {
    const { kept } = open();
    await kept.write("shop/a", recordOf("shop/a"), undefined, "");
    await expect(kept.write("shop/a", recordOf("shop/a"), undefined, "")).rejects.toSatisfy(isConflict);
    const { version } = await kept.read("shop/a");
    await kept.write("shop/a", recordOf("shop/a", "t1"), "value", version);
    await expect(kept.write("shop/a", recordOf("shop/a", "t2"), "other", version)).rejects.toSatisfy(isConflict);
    expect(await kept.read("shop/a")).toMatchObject({ token: "value" });
  });

  test("stay as they are while only the record changes, and go with it", async () => {
    const { kept, secretOf } = open();
    await kept.write("shop/a", recordOf("shop/a", "t1"), "value");
    await kept.write("shop/a", { ...recordOf("shop/a", "t1"), count: 7 });
    expect(await kept.read("shop/a")).toMatchObject({ record: { count: 7 }, token: "value" });
    await kept.write("shop/a", undefined);
    await kept.write("shop/a", undefined);
    expect(secretOf("shop/a")).toBeUndefined();
    expect((await kept.read("shop/a")).record).toBeUndefined();
  });
});
