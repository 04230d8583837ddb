import { describe, expect, test } from "vitest";
import { RECONCILE_AT, ROTATE_AT } from "../../../src/engine/state/names.ts";
import { accessOf, DAY_MS, issue } from "../../certificates/issue.ts";
import { KEY, open, ready } from "./certificate-world.ts";

describe("a client certificate of which two thirds are over", () => {
  async function aged() {
    const first = await accessOf();
    const all = await open(first);
    await all.passes(KEY);
    all.skip(243 * DAY_MS);
    return { ...all, first };
  }

  test("is replaced by a newer one in one write; the password stays", async () => {
    const { passes, offer, published, status, writes, first } = await aged();
    const password = (await published())?.["store.password"];
    const next = await accessOf({ from: 240, to: 605 });
    offer(next);
    expect(await passes(KEY)).toEqual(["renew", "rest"]);
    const data = await published();
    expect(data).toMatchObject({ "ca.crt": next.ca, "tls.crt": next.certificate, "store.password": password });
    expect(data?.["tls.crt"]).not.toBe(first.certificate);
    expect(writes().map(({ method }) => method)).toEqual(["POST", "PUT"]);
    expect(status()).toMatchObject({
      certificate: { version: 2, expiresAt: "2027-08-29T00:00:00.000Z" },
      conditions: [ready],
    });
  });

  test("stays while the platform has no newer one, says so, and is asked for from time to time", async () => {
    const { passes, pass, skip, offer, asked, status, writes } = await aged();
    expect(await passes(KEY)).toEqual(["renew", "rest"]);
    expect(status()).toMatchObject({ advice: [expect.stringContaining("no newer one yet")], conditions: [ready] });
    expect((await pass(KEY)).again).toMatchObject({ inMs: 300_000 });
    expect([asked(), writes().length]).toEqual([2, 1]);
    skip(DAY_MS);
    expect(await passes(KEY)).toEqual(["renew", "rest"]);
    expect(asked()).toBe(3);
    skip(DAY_MS);
    offer(await accessOf({ from: 240, to: 605 }));
    expect(await passes(KEY)).toEqual(["renew", "rest"]);
    expect(status()).toMatchObject({ certificate: { version: 2 } });
    expect(status().advice).toBeUndefined();
  });

  test.each([250, 10_000])(
    "only by Date headers that are %i days ahead is renewed when two thirds are really over",
    async (days) => {
      const { passes, skip, offer, accounts, status, published } = await open(await accessOf());
      await passes(KEY);
      const tell = (ahead: number) =>
        Reflect.set(accounts.get("shop/main")?.connection ?? {}, "aheadMs", ahead * DAY_MS);
      tell(days);
      await passes(KEY);
      tell(0);
      skip(DAY_MS);
      await passes(KEY);
      expect(status()).toMatchObject({ certificate: { version: 1 }, conditions: [ready] });
      const next = await accessOf({ from: 240, to: 605 });
      offer(next);
      skip(243 * DAY_MS);
      await passes(KEY);
      expect(status()).toMatchObject({ certificate: { version: 2 }, conditions: [ready] });
      expect(await published()).toMatchObject({ "tls.crt": next.certificate });
    },
  );

  test("does not give way to an older one", async () => {
    const { passes, offer, published, first } = await aged();
    offer(await accessOf({ from: -30, to: 300 }));
    await passes(KEY);
    expect(await published()).toMatchObject({ "tls.crt": first.certificate });
  });

  test("does not give way to one that nobody could use", async () => {
    const { passes, offer, published, status, writes, first } = await aged();
    const stranger = await issue({ name: "Other CA" });
    offer(await accessOf({ from: 240, to: 605, ca: stranger.certificate }));
    expect(await passes(KEY)).toEqual(["renew"]);
    expect(await published()).toMatchObject({ "tls.crt": first.certificate });
    expect(writes()).toHaveLength(1);
    expect(status().conditions).toMatchObject([{ type: "Ready", reason: "InvalidCertificate" }, { type: "Stalled" }]);
  });
});

describe("somebody who asks for a new certificate", () => {
  test("gets it", async () => {
    const { passes, annotate, offer, status, published, clock } = await open(await accessOf());
    await passes(KEY);
    const next = await accessOf({ to: 365 });
    offer(next);
    annotate({ [ROTATE_AT]: "now" });
    expect(await passes(KEY)).toEqual(["wait Observing"]);
    await clock.advance(2000);
    expect(await passes(KEY)).toEqual(["renew", "rest"]);
    expect(await published()).toMatchObject({ "tls.crt": next.certificate });
    expect(status().certificate?.version).toBe(2);
  });

  test("is reported once when the platform has none", async () => {
    const { passes, annotate, events, asked, status, clock } = await open(await accessOf());
    await passes(KEY);
    annotate({ [ROTATE_AT]: "now" });
    expect(await passes(KEY)).toEqual(["wait Observing"]);
    await clock.advance(2000);
    expect(await passes(KEY)).toEqual(["renew", "rest"]);
    expect(events.at(-1)).toContain("the platform has no newer one yet");
    expect(status().certificate?.version).toBe(1);
    annotate({ [ROTATE_AT]: "now", [RECONCILE_AT]: "again" });
    expect(await passes(KEY)).toEqual(["rest"]);
    expect(asked()).toBe(2);
  });
});
