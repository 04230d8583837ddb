import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Landscape, landscape } from "../landscape.ts";
import { datacenter, ipBlock, lan } from "../objects.ts";
import { watching } from "../watching.ts";

let world: Landscape;

beforeAll(async () => {
  world = await landscape({
    operator: ["--create-deadline", "3s", "--settle", "3s", "--retry", "1s", "--resync", "1h"],
  });
  await world.apply(datacenter("dc"));
  await world.untilReady("datacenter/dc");
});
afterEach(() => world.platform.faults());

const requestStatus = "GET /cloudapi/v6/requests/{requestId}/status";
const reason = '{.status.conditions[?(@.type=="Ready")].reason}';
const count = async (route: string) => (await world.platform.calls()).byRoute[route] ?? 0;
const named = async (collection: string, name: string) =>
  (await world.platform.resources(collection)).filter(({ properties }) => properties?.name === name);

describe("a LAN whose request the platform no longer knows", () => {
  const unknown = { route: requestStatus, fault: "status", status: 404 };

  it("goes on when it was created", async () => {
    await world.platform.faults(unknown);
    await world.apply(lan("made"));
    await world.untilReady("lan/made");
    expect(await named("lans", "made")).toHaveLength(1);
  });

  it("goes on when it was changed", async () => {
    await world.apply(lan("changed"));
    await world.untilReady("lan/changed");
    await world.platform.faults(unknown);
    await world.apply(lan("changed", { public: true }));
    const properties = expect.objectContaining({ public: true });
    await expect.poll(() => named("lans", "changed")).toEqual([expect.objectContaining({ properties })]);
    await expect.poll(() => world.value("lan/changed", `{.status.observedGeneration} ${reason}`)).toBe("2 Available");
  });

  it("goes on when it was deleted, and is gone by then", async () => {
    await world.apply(lan("ended"));
    await world.untilReady("lan/ended");
    await world.platform.faults(unknown);
    await world.askToRemove("lan/ended");
    await world.untilGone("lan/ended");
    expect(await named("lans", "ended")).toEqual([]);
  });
});

describe("while the read of one member fails and asks to come back later", () => {
  const RETRY_AFTER_S = 6;
  const WINDOW_MS = 20_000;
  /** Polls in this time with the requested interval. Without it, there is a poll every two seconds or less. */
  const MOST_READS = 1 + Math.ceil(WINDOW_MS / 1000 / RETRY_AFTER_S);
  const failing = (route: string) => ({ route, fault: "status", status: 503, retryAfter: RETRY_AFTER_S });

  /** The reasons in status during this time, and the number of reads of the member. */
  async function observed(name: string, route: string): Promise<{ reasons: string[]; reads: number }> {
    await expect.poll(() => count(route)).toBeGreaterThan(0);
    const before = await count(route);
    const status = await watching(world, name, reason);
    // A fixed time, because the test counts the writes in it.
    await delay(WINDOW_MS);
    await status.stop();
    return { reasons: status.seen(), reads: (await count(route)) - before };
  }

  it("status stays as it is and is written a few times: an IP block that lists no longer show", async () => {
    const route = "GET /cloudapi/v6/ipblocks/{ipblockId}";
    await world.apply(ipBlock("lost"));
    await world.untilReady("ipblock/lost");
    await world.platform.faults(
      { route: "GET /cloudapi/v6/ipblocks", fault: "missing-item", seconds: 86_400 },
      failing(route),
    );
    await world.platform.resetCalls();
    await world.annotate("ipblock/lost", "mooring.dev/reconcile-at=now");
    const { reasons, reads } = await observed("ipblock/lost", route);
    expect.soft(reads).toBeLessThanOrEqual(MOST_READS);
    expect.soft(reasons.length).toBeLessThanOrEqual(4);
    // A reason does not come back after another one.
    const turns = reasons.filter((each, index) => each !== reasons[index - 1]);
    expect.soft(turns).toEqual([...new Set(turns)]);
  });
});
