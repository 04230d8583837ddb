import { expect, test } from "vitest";
import { timed } from "../../src/controllers/timeout.ts";
import { leads } from "../../src/engine/observe/deps.ts";
import { readStatus } from "../../src/engine/status/status.ts";
import { DeadlineExceeded, type Requeue } from "../../src/kube/queue/work.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import { objectOf, readyCondition } from "../engine/support/fixtures.ts";
import { stage } from "../engine/support/stage.ts";

/** A pass that hangs until the test continues it, and is aborted meanwhile. */
function hang(object: KubeObject, key: string) {
  const life = stage([object]);
  const goOn = Promise.withResolvers<void>();
  const after = Promise.withResolvers<boolean>();
  const reconcile = timed(life.deps, async (_, within): Promise<Requeue> => {
    await goOn.promise;
    after.resolve(leads(within));
    return "never";
  });
  const end = (error: Error = new DeadlineExceeded()) => {
    const deadline = new AbortController();
    const ended = reconcile(key, deadline.signal);
    deadline.abort(error);
    return ended;
  };
  const ready = () => readStatus(life.api.get(object) ?? object).conditions?.find(({ type }) => type === "Ready");
  return { ...life, end, ready, goOn: goOn.resolve, mayWrite: after.promise };
}

const status = { id: "dc-1", account: "shop/main", conditions: [readyCondition()] };
const datacenter = objectOf("Datacenter", "dc", { spec: { location: "de/txl" }, status });

test("a pass that was ended leaves all that status had, says why, and waits ever longer", async () => {
  const { end, ready, api, skip, sync } = hang(datacenter, "Datacenter/shop/dc");
  expect(await end()).toEqual({ inMs: 1000 });
  expect(ready()).toMatchObject({ status: "False", reason: "PlatformUnavailable" });
  expect(ready()?.message).toContain("took longer than 60 s");
  expect(api.get(datacenter)?.status).toMatchObject({ id: "dc-1", account: "shop/main" });
  skip(1000);
  sync();
  expect(await end()).toEqual({ inMs: 2000 });
});

test("a pass that continues after it was ended may not write any more; every other pass may", async () => {
  const { end, goOn, mayWrite, deps } = hang(datacenter, "Datacenter/shop/dc");
  await end();
  goOn();
  expect(await mayWrite).toBe(false);
  expect(leads(deps)).toBe(true);
});

test("an Account says so as well, and comes back by the queue's own pause", async () => {
  const account = objectOf("Account", "slow", { spec: {}, status: { contractNumber: 31 } });
  const { end, ready, api } = hang(account, "Account/shop/slow");
  expect(await end()).toBe("backoff");
  expect(ready()).toMatchObject({ status: "False", reason: "PlatformUnavailable" });
  expect(api.get(account)?.status).toMatchObject({ contractNumber: 31 });
});

test("any other end of a pass is a failure of its own", async () => {
  const { end, ready } = hang(datacenter, "Datacenter/shop/dc");
  await expect(end(new Error("stopping"))).rejects.toThrow("stopping");
  expect(ready()).toMatchObject({ status: "True" });
});
