import { expect, test } from "vitest";
import type { KubeObject } from "../../src/kube/resource.ts";
import { Retry } from "../../src/platform/answers/errors.ts";
import type { Connection } from "../../src/platform/calls/transport.ts";
import { fakePlatform } from "../engine/support/fake-platform.ts";
import { objectOf } from "../engine/support/fixtures.ts";
import { accountOf, credentials, runEngine } from "../engine/support/running-engine.ts";
import { stage } from "../engine/support/stage.ts";
import { fakeClock } from "../fake-clock.ts";

const datacenter = (name: string, account: string): KubeObject =>
  objectOf("Datacenter", name, { spec: { location: "de/txl", accountRef: { name: account } } });

/** Accounts, one of which gets no answer to its creations. */
async function hanging(...later: KubeObject[]) {
  const clock = fakeClock();
  const platform = fakePlatform();
  const hung: string[] = [];
  const connect = (id: string): Connection => {
    const connection = platform.connectionOf(id);
    if (id !== "shop/slow") return connection;
    return {
      ...connection,
      send(call) {
        if (call.method !== "POST") return connection.send(call);
        hung.push(call.url);
        return new Promise(() => {});
      },
    };
  };
  const initial = [accountOf("slow"), accountOf("main"), credentials];
  const slow = Array.from({ length: 20 }, (_, index) => datacenter(`slow-${index}`, "slow"));
  const engine = await runEngine([...initial, ...slow], { clock, platform, connect, workers: 8 });
  await clock.advance(5000);
  for (const object of later) engine.put(object);
  await clock.advance(5000);
  return { platform, hung };
}

test("an Account whose calls hang holds three eighths of the workers, and the objects of another get on", async () => {
  const quick = Array.from({ length: 5 }, (_, index) => datacenter(`quick-${index}`, "main"));
  const { platform, hung } = await hanging(...quick);
  expect(hung).toHaveLength(3);
  expect(platform.sent("POST")).toHaveLength(5);
});

test("a call is repeated when the Retry-After of the platform is over, and no worker waits for it", async () => {
  const waiting = datacenter("d", "main");
  const { platform, passes, pass } = stage([waiting]);
  platform.beforeEach(({ method }) => {
    if (method === "POST") throw new Retry({ call: "POST /datacenters", status: 429 }, "no", 3_000_000);
  });
  await passes("Datacenter/shop/d", 1);
  expect((await pass("Datacenter/shop/d")).again).toEqual({ inMs: 3_000_000 });
});
