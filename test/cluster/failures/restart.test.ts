import { setTimeout as delay } from "node:timers/promises";
import { afterAll, describe, expect, it } from "vitest";
import { openIntent } from "../../../src/engine/state/object.ts";
import { startPlatform } from "../chaos/platform.ts";
import { openStage, type Stage, unsettled } from "../chaos/stage.ts";
import { until } from "../chaos/wait.ts";
import { cluster } from "../harness.ts";
import { datacenter, server } from "../objects.ts";

const COUNT = 50;
const names = Array.from({ length: COUNT }, (_, index) => `server-${index}`);

const cleanup = new AsyncDisposableStack();
afterAll(() => cleanup.disposeAsync());

const openIntents = async (stage: Stage) => (await stage.list("Server")).filter(openIntent).length;

describe(`a container that is killed while ${COUNT} servers are created, and restarted`, { timeout: 300_000 }, () => {
  it("leads at once, and every server is there once", async () => {
    const platform = cleanup.use(await startPlatform());
    const stage = cleanup.use(await openStage(cluster().kubeconfig));
    const flags = ["--create-deadline", "10s", "--settle", "10s"];
    await stage.account(platform);
    // These objects wait for their datacenter and are created as soon as it is Ready.
    await stage.apply(datacenter("dc"), ...names.map((name) => server(name)));
    const first = await stage.operator({ pod: "mooring-0", flags });
    const begun = async () => {
      const made = (await platform.steering.resources("servers")).length;
      return made >= 5 && (await openIntents(stage)) > 0 ? undefined : `${made} servers are there`;
    };
    await until(begun, { title: "creations under way", everyMs: 20 });
    await first.kill();
    const killedAt = performance.now();
    const open = await openIntents(stage);
    await delay(3000);
    const second = await stage.operator({ pod: "mooring-0", flags });
    await second.untilLeading();
    const leadingAt = performance.now();
    const unready = async () => (await stage.list("Server")).map(unsettled).find((missing) => missing !== undefined);
    await until(unready, { title: "all servers" });
    const seconds = (at: number) => ((at - killedAt) / 1000).toFixed(1);
    console.log(
      `${open} creations open after the kill; leading after ${seconds(leadingAt)} s, all Ready after ${seconds(performance.now())} s`,
    );
    // The new process did not wait for the Lease of its own former process.
    expect(second.log()).not.toContain("standing by");
    const there = await platform.steering.resources("servers");
    expect(there.map(({ properties }) => properties?.name).toSorted()).toEqual(names.toSorted());
  });
});
