import { describe, expect, test } from "vitest";
import { INTENT } from "../../../src/engine/state/names.ts";
import { claimOf, openIntent } from "../../../src/engine/state/object.ts";
import { readyOf } from "../../../src/engine/status/status.ts";
import type { KubeObject } from "../../../src/kube/resource.ts";
import { addressesOf } from "../../../src/platform/addresses/account-addresses.ts";
import { fakeClock } from "../../fake-clock.ts";
import { fakeApiServer } from "../support/fake-api-server.ts";
import { API, fakePlatform } from "../support/fake-platform.ts";
import { datacenterSpec, objectOf } from "../support/fixtures.ts";
import { accountOf, credentials, runEngine } from "../support/running-engine.ts";

const HOUR = 3_600_000;
const { host } = new URL(API);
const spellings = [API, `http://${host.toUpperCase()}:80/`, `http://${host}.`, `http://${host}\\cloudapi\\v6`];

describe("Accounts with the same endpoint in several spellings", () => {
  test("give an existing resource to one object only", async () => {
    const platform = fakePlatform();
    const externalId = platform.make("theirs", { properties: { name: "theirs", location: "de/txl" } });
    const accounts = spellings.map((api, nth) => accountOf(`spelling-${nth}`, { api }));
    const objects = accounts.map(({ metadata: { name } }) =>
      objectOf("Datacenter", name, {
        spec: { externalId, location: "de/txl", name: "theirs", accountRef: { name } },
      }),
    );
    const clock = fakeClock();
    await using engine = await runEngine([credentials, ...accounts, ...objects], { clock, platform });
    await clock.advance(HOUR);
    const reasons = objects.map((object) => readyOf(engine.api.get(object) ?? object)?.reason);
    expect(reasons.toSorted()).toEqual(["Available", "NotAdoptable", "NotAdoptable", "NotAdoptable"]);
  });
});

test("an Account may name the operator's own endpoint in any spelling", () => {
  const sites = { endpoints: { api: API }, isAllowed: () => false };
  const read = (api: string) => addressesOf({ endpoints: { api } }, sites, ["api"]);
  for (const each of spellings) expect(read(each).endpoint("api")).toBe(API);
  expect(read("http://other.test").obstacle?.reason).toBe("EndpointNotAllowed");
});

/** The object as a process that knew another spelling has written it. */
const respelled = (object: KubeObject, endpoint: string): KubeObject =>
  JSON.parse(
    JSON.stringify(object)
      .replaceAll(JSON.stringify(API), JSON.stringify(endpoint))
      .replaceAll(
        JSON.stringify(JSON.stringify(API)).slice(1, -1),
        JSON.stringify(JSON.stringify(endpoint)).slice(1, -1),
      ),
  );

describe("a claim that was written in another spelling", () => {
  test.each(spellings)("is at the same endpoint: %s", async (spelling) => {
    const platform = fakePlatform();
    const object = objectOf("Datacenter", "a", { spec: datacenterSpec });
    const initial = [credentials, accountOf("main"), object];
    const api = fakeApiServer(...initial);
    {
      const clock = fakeClock();
      await using _ = await runEngine(initial, { clock, platform, api });
      await clock.advance(HOUR);
    }
    const before = respelled(api.get(object) ?? object, spelling);
    expect(JSON.stringify(before)).toContain(JSON.stringify(spelling).slice(1, -1));
    expect(claimOf(before)?.endpoint).toBe(API);
    const rival = objectOf("Datacenter", "b", {
      spec: { ...datacenterSpec, externalId: claimOf(before)?.id },
    });
    const again = [credentials, accountOf("main"), before, rival];
    const later = fakeClock(Date.UTC(2026, 0, 2));
    await using engine = await runEngine(again, { clock: later, platform, api: fakeApiServer(...again) });
    await later.advance(HOUR);
    const reasons = [before, rival].map((each) => readyOf(engine.api.get(each) ?? each)?.reason);
    expect(reasons).toEqual(["Available", "NotAdoptable"]);
    expect(platform.sent("POST")).toHaveLength(1);
  });

  test("a creation in progress, too", () => {
    const intent = {
      nonce: "n",
      at: "2026-01-01T00:00:00Z",
      by: { pod: "mooring-0", process: "first", deadlineMs: 1 },
      hash: "h",
      parents: {},
      account: "shop/main",
      endpoint: "http://127.1:80",
      fixed: {},
    };
    const annotations = { [INTENT]: JSON.stringify(intent) };
    const object = objectOf("Datacenter", "a", { spec: datacenterSpec, metadata: { name: "a", annotations } });
    expect(openIntent(object)?.endpoint).toBe("http://127.0.0.1");
  });
});
