import { expect, test } from "vitest";
import { FINALIZER } from "../../../../src/engine/state/names.ts";
import { readyOf } from "../../../../src/engine/status/status.ts";
import { fakePlatform } from "../../support/fake-platform.ts";
import { objectOf } from "../../support/fixtures.ts";
import { stage } from "../../support/stage.ts";

const KEY = "Datacenter/shop/dc";
const spec = { location: "de/txl" };

/** A Datacenter that is being deleted, and a Server object that names it, whose server is in this datacenter. */
async function deleting(where: (own: string, former: string) => string) {
  const platform = fakePlatform();
  const make = () =>
    platform.make("dc", { properties: { name: "dc", ...spec } }, { path: "/datacenters", entities: {} });
  const [former, own] = [make(), make()];
  const account = { account: "shop/main", contract: 1 };
  const deletionTimestamp = "2026-01-01T00:00:00Z";
  const object = objectOf("Datacenter", "dc", {
    spec,
    metadata: { name: "dc", finalizers: [FINALIZER], deletionTimestamp },
    status: { id: own, ...account },
  });
  const server = objectOf("Server", "web", {
    spec: { datacenterRef: { name: "dc" }, cores: 1, ram: 1024 },
    metadata: { name: "web", finalizers: [FINALIZER] },
    status: { id: "srv-1", parents: { datacenter: where(own, former) }, ...account },
  });
  const all = stage([object, server], { platform });
  platform.setClock(all.clock.now);
  for (let second = 0; second < 60 && all.objects.find(KEY); second += 5) {
    all.sync();
    await all.passes(KEY);
    await all.clock.advance(5000);
  }
  return {
    deleted: platform.sent("DELETE").map(({ url }) => url.split("/").at(-1)),
    own,
    reason: readyOf(all.api.get(object) ?? object)?.reason,
  };
}

test("a Datacenter with the name of a retained one is deleted, whatever objects have in the retained one", async () => {
  const { deleted, own } = await deleting((_, former) => former);
  expect(deleted).toEqual([own]);
});

test("a Datacenter waits for what objects have in it", async () => {
  const { deleted, reason } = await deleting((own) => own);
  expect(deleted).toEqual([]);
  expect(reason).toBe("NotEmpty");
});
