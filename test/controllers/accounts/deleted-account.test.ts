import { describe, expect, test } from "vitest";
import { FINALIZER } from "../../../src/engine/state/names.ts";
import { objectOf } from "../../engine/support/fixtures.ts";
import { open, refused } from "./token-account.ts";

describe("a deleted Account", () => {
  const deleted = { finalizers: [FINALIZER], deletionTimestamp: "2026-01-01T00:00:00Z" };
  const user = objectOf("Datacenter", "dc", { status: { id: "d1", account: "shop/main" } });

  test("goes at once when nothing needs it, and its Secret with it", async () => {
    const { check, api, object, said, accounts } = open(deleted);
    expect((await check()).again).toBe("never");
    expect(api.get(object)).toBeUndefined();
    expect(said.released).toBe(1);
    expect(accounts.get("shop/main")).toBeUndefined();
  });

  test("stays, and keeps working, while something was made with it", async () => {
    const { check, said } = open(deleted, user);
    const { conditions, obstacle } = await check();
    expect(conditions).toMatchObject([
      {
        reason: "InUse",
        message:
          "still used by Datacenter/shop/dc: nothing is lost meanwhile; before you delete those, set deletionPolicy: Retain on each whose resource is to stay",
      },
      { type: "Stalled", reason: "InUse" },
    ]);
    expect(obstacle).toBeUndefined();
    expect(said.released).toBe(0);
  });

  test("waits for users that are on their way out", async () => {
    const leaving = { ...user, metadata: { ...user.metadata, ...deleted } };
    const { conditions } = await open(deleted, leaving).check();
    expect(conditions).toMatchObject([
      { reason: "Deleting", message: "waiting for the deletion of Datacenter/shop/dc" },
      { type: "Reconciling" },
    ]);
  });

  test("that waits for its users still notices that its token is refused, and that it works again", async () => {
    const { check } = open(deleted, user);
    expect((await check()).obstacle).toBeUndefined();
    expect((await check(refused)).obstacle).toMatchObject({ reason: "Unauthorized" });
    expect((await check()).obstacle).toBeUndefined();
  });

  test("stays while something is undone with it that has no object any more", async () => {
    const { check, said, accounts } = open(deleted);
    said.cleanupLeft = true;
    expect((await check()).again).toEqual({ inMs: 1000 });
    expect(said.released).toBe(0);
    said.cleanupLeft = false;
    await check();
    expect(said.released).toBe(1);
    expect(accounts.get("shop/main")).toBeUndefined();
  });
});
