import { afterAll, describe, expect, it } from "vitest";
import { readStatus } from "../../../src/engine/status/status.ts";
import { startPlatform } from "../chaos/platform.ts";
import { startHoldingProxy } from "../chaos/proxy.ts";
import { openStage } from "../chaos/stage.ts";
import { cluster } from "../harness.ts";
import { datacenter } from "../objects.ts";

const cleanup = new AsyncDisposableStack();
afterAll(() => cleanup.disposeAsync());

const creates = (method: string, path: string) => method === "POST" && path.startsWith("/cloudapi/v6/datacenters");

/** A Datacenter whose POST is held by a proxy until the operator gives up. */
async function hold(flags: string[], { dropped }: { dropped: boolean }) {
  const platform = cleanup.use(await startPlatform());
  const proxy = cleanup.use(await startHoldingProxy(platform.url));
  const stage = cleanup.use(await openStage(cluster().kubeconfig));
  const operator = await stage.operator({ flags: ["--create-deadline", "1s", ...flags] });
  await operator.untilLeading();
  await stage.account({ url: proxy.url, token: platform.token });
  await stage.untilReady("Account", "main");
  proxy.set({ moment: "before", dropped, matches: creates, caught: () => {} });
  await stage.apply(datacenter("subject"));
  await proxy.abandoned;
  await proxy.release();
  const { id } = readStatus(await stage.untilReady("Datacenter", "subject"));
  const posts = operator.log().split('"method":"POST"').length - 1;
  return { id, posts, found: (await platform.named("datacenters", "subject")).map((each) => each.id) };
}

describe("a creation that a proxy holds for longer than its deadline makes one resource", { timeout: 120_000 }, () => {
  it("when the proxy delivers it although the connection was reset: it is found, and not sent again", async () => {
    // Delivered right after the deadline, which is within the settle time even on a slow machine.
    const { id, posts, found } = await hold(["--settle", "60s"], { dropped: false });
    expect(found).toEqual([id]);
    expect(posts).toBe(1);
  });

  it("when the proxy drops what was reset: it is sent again after the settle time", async () => {
    const { id, posts, found } = await hold(["--settle", "4s"], { dropped: true });
    expect(found).toEqual([id]);
    expect(posts).toBe(2);
  });
});
