import { describe, expect, test } from "vitest";
import { ACCEPT_USER } from "../../../src/engine/state/names.ts";
import { objectOf } from "../../engine/support/fixtures.ts";
import { jwtOf, KEY, open, unavailable } from "./token-account.ts";

describe("an Account with a token of another user", () => {
  const user = () =>
    objectOf("Datacenter", "dc", { spec: { location: "de/txl" }, status: { id: "dc-1", account: KEY } });

  test("stalls while objects have resources of the user before, says what to do, and goes on when the token is back", async () => {
    const { check, token, said, api, object } = open({}, user());
    await check();
    token.userId = "u2";
    const { conditions, obstacle } = await check();
    expect(conditions).toMatchObject([
      { status: "False", reason: "UserChanged" },
      { type: "Stalled", status: "True" },
    ]);
    expect(obstacle?.message).toMatch(/user u2.*user u1.*mooring\.dev\/accept-user to "u2"/);
    const before = said.changed;
    token.userId = "u1";
    expect((await check()).obstacle).toBeUndefined();
    expect(said.changed).toBe(before + 1);
    expect(api.get(object)?.status).toMatchObject({ platformUserId: "u1" });
  });

  test("does not use that token, also while the platform does not answer, and says so at once", async () => {
    const { check, secret, used } = open({}, user());
    await check();
    const theirs = jwtOf("u2");
    secret.value = theirs;
    const { conditions, obstacle } = await check(unavailable);
    expect(conditions).toMatchObject([{ status: "False", reason: "UserChanged" }, { type: "Stalled" }]);
    expect(obstacle).toMatchObject({ reason: "UserChanged" });
    expect(used).not.toContain(theirs);
    secret.value = jwtOf("u1");
    expect((await check()).obstacle).toBeUndefined();
    expect(used).toContain(secret.value);
  });

  test("works when an administrator accepts that user, or when nothing was made with it", async () => {
    const accepted = open({ annotations: { [ACCEPT_USER]: "u2" } }, user());
    const unused = open();
    for (const { check, token, said, api, object } of [accepted, unused]) {
      await check();
      token.userId = "u2";
      const before = said.changed;
      expect((await check()).obstacle).toBeUndefined();
      expect(api.get(object)?.status).toMatchObject({ platformUserId: "u2" });
      // Objects that waited for this user hear of it at once.
      expect(said.changed).toBe(before + 1);
    }
  });
});
