import { expect, test } from "vitest";
import { CREDENTIALS, FINALIZER } from "../../../src/engine/state/names.ts";
import type { KubeObject } from "../../../src/kube/resource.ts";
import { Unauthorized } from "../../../src/platform/answers/errors.ts";
import { fakeClock } from "../../fake-clock.ts";
import { fakePlatform } from "../support/fake-platform.ts";
import { objectOf } from "../support/fixtures.ts";
import { accountOf, credentials, runEngine } from "../support/running-engine.ts";

const datacenter = (name: string, account: string): KubeObject =>
  objectOf("Datacenter", name, { spec: { location: "de/txl", accountRef: { name: account } } });

const edited = (nth: number): KubeObject => ({
  ...credentials,
  metadata: { ...credentials.metadata, labels: { [CREDENTIALS]: "true" }, finalizers: [FINALIZER] },
  data: { token: Buffer.from(`token-${nth}`).toString("base64") },
});

test("sixty edits of a Secret, good and bad by turns, are no pass over another Account's objects, and few over its own", async () => {
  const clock = fakeClock();
  const platform = fakePlatform();
  const passes: Record<string, number> = {};
  const other = { ...credentials, metadata: { ...credentials.metadata, name: "other", uid: "uid-other" } };
  const neighbour = accountOf("b");
  neighbour.spec = { ...Object(neighbour.spec), credentialsSecretRef: { name: "other" } };
  const objects = ["a-1", "a-2", "b-1", "b-2"].map((name) => datacenter(name, name[0] ?? ""));
  await using engine = await runEngine([accountOf("a"), neighbour, credentials, other, ...objects], {
    clock,
    platform,
    log: {
      debug(fields) {
        const key: unknown = Reflect.get(fields, "object");
        if (Reflect.get(fields, "step") !== undefined) passes[String(key)] = (passes[String(key)] ?? 0) + 1;
      },
      info: () => {},
      warn: () => {},
      error: () => {},
    },
  });
  await clock.advance(120_000);
  const before = { ...passes };
  expect(before["Datacenter/shop/b-1"]).toBeGreaterThan(0);
  let bad = false;
  platform.beforeEach(({ url }) => {
    if (bad && url.includes("/contracts")) throw new Unauthorized({ call: "GET /contracts", status: 401 });
  });
  for (let nth = 1; nth <= 60; nth++) {
    bad = nth % 2 === 1;
    engine.put(edited(nth));
    await clock.advance(500);
  }
  const of = (name: string) => (passes[`Datacenter/shop/${name}`] ?? 0) - (before[`Datacenter/shop/${name}`] ?? 0);
  expect([of("b-1"), of("b-2")]).toEqual([0, 0]);
  expect(of("a-1")).toBeGreaterThan(0);
  expect(of("a-1")).toBeLessThan(10);
});
