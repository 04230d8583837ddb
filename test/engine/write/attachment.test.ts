import { describe, expect, test } from "vitest";
import { FINALIZER } from "../../../src/engine/state/names.ts";
import { readFacts, readStatus } from "../../../src/engine/status/status.ts";
import { fakePlatform } from "../support/fake-platform.ts";
import { objectOf } from "../support/fixtures.ts";
import { DC, live, SERVERS } from "../support/lives.ts";
import { stage } from "../support/stage.ts";

const VOLUMES = `/datacenters/${DC}/volumes`;
const key = "Volume/shop/a";

/** A volume that the last request attached to srv-1, which no pass has seen at rest. Its spec names no server any more. */
function attached(
  deleting: boolean,
  marks: object = { marks: { attachedTo: "srv-1" } },
  more: object = {},
  bootServer: string | null = "srv-1",
) {
  const platform = fakePlatform();
  const properties = { name: "a", size: 10, type: "HDD", bootServer };
  platform.make("a", { properties }, { path: VOLUMES, targets: ["vol-1"] });
  const object = objectOf("Volume", "a", {
    spec: { datacenterId: DC, size: 10, type: "HDD", licenceType: "OTHER", ...more },
    metadata: {
      name: "a",
      finalizers: [FINALIZER],
      ...(deleting && { deletionTimestamp: "2026-01-01T00:00:00Z" }),
    },
    status: {
      id: "vol-1",
      parents: { datacenter: DC },
      account: "shop/main",
      ...(bootServer !== null && {
        request: { action: "attach", status: "BUSY", since: "2026-01-01T00:00:00.000Z", ...marks },
      }),
    },
  });
  const life = { all: stage([object], { platform }), key, object, beforeEach: platform.beforeEach };
  return { platform, life, sent: () => platform.sent("DELETE").map(({ url }) => new URL(url).pathname) };
}

describe("an attachment whose spec changed before it was over", () => {
  test("is known as one by Mooring, and detached", async () => {
    const { life, sent } = attached(false);
    await live(life, 30, () => sent().length > 0);
    expect(sent()).toEqual([expect.stringContaining(`${SERVERS}/srv-1/volumes/vol-1`)]);
    const after = life.all.api.get(life.object) ?? life.object;
    // The request of the detachment has taken the place of the one that told it.
    expect(readStatus(after).request).toMatchObject({ action: "detach" });
    expect(readFacts(after)).toMatchObject({ attachedTo: "srv-1" });
  });

  test("keeps no deletion waiting", async () => {
    const { life, sent } = attached(true);
    expect(await live(life, 30, () => sent().length > 0)).not.toContain("stall InUse");
    expect(sent()).toEqual([expect.stringContaining(`${VOLUMES}/vol-1`)]);
  });

  test("of somebody else stays, also when the object is deleted", async () => {
    const kept = attached(false, {});
    await live(kept.life, 30);
    const deleted = attached(true, {});
    expect(await live(deleted.life, 30)).toContain("stall InUse");
    expect([...kept.platform.writes(), ...deleted.platform.writes()]).toEqual([]);
  });
});

test("an attachment during which spec is edited is known as well, although its record conflicts with the edit", async () => {
  const server = "7ce5e062-034e-4dbc-9ed9-4be5174e1523";
  const { platform, life, sent } = attached(false, {}, { attachTo: { serverId: server } }, null);
  const { api } = life.all;
  platform.afterEach(({ method, url }) => {
    const volume = platform.items.get("vol-1");
    if (method !== "POST" || !url.endsWith(`${server}/volumes`) || !volume) return;
    platform.items.clear();
    platform.items.set("vol-1", { ...volume, properties: { ...volume.properties, bootServer: server } });
    const stored = api.get(life.object) ?? life.object;
    api.put({ ...stored, spec: { ...Object(stored.spec), attachTo: undefined } });
  });
  await expect(live(life, 60)).rejects.toThrow("Conflict");
  await live(life, 60, () => sent().length > 0);
  expect(sent()).toEqual([expect.stringContaining(`${SERVERS}/${server}/volumes/vol-1`)]);
});
