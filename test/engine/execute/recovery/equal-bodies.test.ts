import { describe, expect, test } from "vitest";
import { API } from "../../support/fake-platform.ts";
import { handleOf, objectOf } from "../../support/fixtures.ts";
import { stage } from "../../support/stage.ts";
import { A, B, begun, body, fresh, spec, statusOf } from "./begun.ts";

describe("objects with equal bodies", () => {
  test("share out what was found, and nobody takes what another is about to claim", async () => {
    const { platform, pass, contextOf, api } = stage([begun("a"), begun("b")]);
    const [first = "", second = ""] = [platform.make("same", body), platform.make("same", body)];
    await pass(A);
    await pass(B);
    expect(contextOf(B).view.resource.search).toMatchObject({ matches: [first, second], rivals: 2, rank: 1 });
    const claiming = pass(A);
    // The claim is not awaited yet, and its id is already taken.
    expect(contextOf(B).view.resource.search).toMatchObject({ matches: [second], rivals: 1, rank: 0, inFlight: true });
    await claiming;
    expect(contextOf(B).view.resource.search).toMatchObject({ matches: [second], rivals: 1, rank: 0, inFlight: false });
    expect((await pass(B)).decision).toEqual({ step: "claim", identity: second });
    expect([api.get(fresh("a")), api.get(fresh("b"))].map(statusOf)).toMatchObject([{ id: first }, { id: second }]);
  });

  test("keep an id that is being claimed, although the write of the claim got no answer", async () => {
    const { platform, pass, contextOf, api } = stage([begun("a"), begun("b")]);
    const [id, other] = [platform.make("same", body), platform.make("same", body)];
    await pass(A);
    await pass(B);
    api.beforeEach(() => {
      throw new Error("connection reset");
    });
    await expect(pass(A)).rejects.toThrow("connection reset");
    expect(contextOf(B).view.resource.search).toMatchObject({ matches: [other], inFlight: true });
    api.beforeEach(() => {});
    expect((await pass(A)).decision).toEqual({ step: "claim", identity: id });
    expect(statusOf(api.get(fresh("a")))).toMatchObject({ id });
  });

  test("do not look at what some object claims already", async () => {
    const owner = objectOf("Datacenter", "owner", { spec, status: { id: "dc-same-0" } });
    const { platform, passes } = stage([begun("a"), owner]);
    platform.make("same", body);
    expect(await passes(A)).toEqual(["search", "wait Recovering"]);
    expect(platform.calls.map(({ url }) => url).filter((url) => url.includes("dc-same-0"))).toEqual([]);
  });

  test("stop when more was made than was asked for, and go on when the surplus is gone", async () => {
    const { platform, passes, clock } = stage([begun("a")]);
    platform.make("same", body);
    const surplus = platform.make("same", body);
    expect(await passes(A)).toEqual(["search", "stall Ambiguous"]);
    platform.items.delete(surplus);
    await clock.advance(60_000);
    expect((await passes(A)).slice(0, 2)).toEqual(["search", "claim"]);
  });

  test("take nothing that may be another's while their own cannot be seen yet", async () => {
    const { platform, passes, clock } = stage([begun("a")]);
    platform.make("same", body);
    const id = platform.make("same", body, { visible: false, status: "BUSY" });
    expect(await passes(A)).toEqual(["search", "wait Recovering"]);
    platform.items.set(id, { state: "BUSY", properties: body.properties, user: "u1" });
    await clock.advance(2000);
    expect(await passes(A)).toEqual(["search", "stall Ambiguous"]);
  });

  test("are rivals in the same contract only", async () => {
    const { platform, pass, contextOf, accounts } = stage([begun("a"), begun("b", { account: "shop/other" })]);
    const other = (contract: number) =>
      accounts.put(
        handleOf("shop/other", { connection: platform.connectionOf("shop/other", contract), endpoint: () => API }),
      );
    other(2);
    await pass(A);
    await pass(B);
    expect(contextOf(A).view.resource.search).toMatchObject({ rivals: 1, rank: 0 });
    expect(contextOf(B).view.resource.search).toMatchObject({ rivals: 1, rank: 0 });
    other(1);
    expect(contextOf(A).view.resource.search).toMatchObject({ rivals: 2, rank: 0 });
    expect(contextOf(B).view.resource.search).toMatchObject({ rivals: 2, rank: 1 });
  });
});
