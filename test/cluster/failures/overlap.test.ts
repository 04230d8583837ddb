import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { readStatus } from "../../../src/engine/status/status.ts";
import { type Platform, startPlatform } from "../chaos/platform.ts";
import { type HoldingProxy, startHoldingProxy, type Trap } from "../chaos/proxy.ts";
import { openStage, type Stage } from "../chaos/stage.ts";
import { until } from "../chaos/wait.ts";
import { cluster } from "../harness.ts";
import { datacenter } from "../objects.ts";

const cleanup = new AsyncDisposableStack();
afterAll(() => cleanup.disposeAsync());

/** A call of a creation at which the leader is frozen. */
interface Position {
  call: string;
  side: "kubernetes" | "platform";
  trap: Omit<Trap, "caught">;
  /** Another fault of the platform during that creation. */
  faults?: object[];
}

const intends = (method: string, path: string, body: string) =>
  method === "PATCH" && path.includes("/datacenters/subject?") && body.includes("mooring.dev/intent");
const creates = (method: string, path: string) => method === "POST" && path.startsWith("/cloudapi/v6/datacenters");
const claims = (method: string, path: string, body: string) =>
  method === "PATCH" && path.includes("/datacenters/subject/status?") && body.includes('"state":"BUSY"');

const positions: Position[] = [
  { call: "the intent is about to be written", side: "kubernetes", trap: { moment: "before", matches: intends } },
  { call: "the intent was written", side: "kubernetes", trap: { moment: "executed", matches: intends } },
  { call: "the POST has left", side: "platform", trap: { moment: "before", dropped: true, matches: creates } },
  { call: "the POST was executed", side: "platform", trap: { moment: "executed", matches: creates } },
  { call: "the claim is about to be written", side: "kubernetes", trap: { moment: "before", matches: claims } },
  { call: "the claim was written", side: "kubernetes", trap: { moment: "executed", matches: claims } },
];

interface Setting {
  stage: Stage;
  platform: Platform;
  proxies: Record<Position["side"], HoldingProxy>;
}

const kubeconfigShape = z.looseObject({
  clusters: z.tuple([z.looseObject({ cluster: z.looseObject({ "certificate-authority-data": z.string() }) })]),
});

async function open(): Promise<Setting> {
  const { kubeconfig, server } = cluster();
  const authority = kubeconfigShape.parse(parse(await readFile(kubeconfig, "utf8"))).clusters[0].cluster;
  const ca = Buffer.from(authority["certificate-authority-data"], "base64");
  const platform = cleanup.use(await startPlatform());
  const proxies = {
    kubernetes: cleanup.use(await startHoldingProxy(server, ca)),
    platform: cleanup.use(await startHoldingProxy(platform.url)),
  };
  const stage = cleanup.use(await openStage(kubeconfig));
  return { stage, platform, proxies };
}

/**
 * Freezes the leader at a call of a creation until another operator leads and the object is Ready. Then continues the
 * first one and waits until it exits. Returns the resources on the platform.
 */
async function overlap(
  { stage, platform, proxies }: Setting,
  { side, trap, faults = [] }: Position,
  meanwhile?: (frozenAt: number) => Promise<void>,
) {
  const trapped = proxies[side];
  const leader = await stage.operator({ kubeconfig: await stage.kubeconfigVia(proxies.kubernetes.url) });
  await leader.untilLeading();
  await stage.account({ url: proxies.platform.url, token: platform.token });
  await stage.untilReady("Account", "main");
  const other = await stage.operator({ flags: ["--missing-after", "9s"] });
  await platform.steering.faults(...faults);
  trapped.set({ ...trap, caught: () => leader.signal("SIGSTOP") });
  await stage.apply(datacenter("subject"));
  await until(() => (trapped.sprung ? undefined : `the call has not come\n${leader.log().slice(-500)}`), {
    title: "freezing",
  });
  const frozenAt = performance.now();
  await other.untilLeading();
  await stage.untilReady("Datacenter", "subject");
  await meanwhile?.(frozenAt);

  leader.signal("SIGCONT");
  await trapped.release();
  expect(await leader.ended).toBe(1);
  expect(leader.log()).toContain("leader election lost: another operator is the leader");
  const object = await stage.untilReady("Datacenter", "subject");
  return { id: readStatus(object).id, found: await platform.named("datacenters", "subject"), log: leader.log() };
}

describe("the leader is frozen past its lease and thawed when another one has done its work: one resource in the end", {
  timeout: 300_000,
}, () => {
  // Concurrent, because each case waits for the Lease.
  const outcomes = new Map<Position, Promise<{ id: string | undefined; found: { id: string }[] }>>();
  beforeAll(() => {
    for (const position of positions) {
      const outcome = open().then((setting) => overlap(setting, position));
      outcome.catch(() => {});
      outcomes.set(position, outcome);
    }
  });

  it.concurrent("a resource that can no longer be claimed is deleted by its creator, who alone knows of it", async () => {
    const setting = await open();
    const { platform } = setting;
    const unseen = { route: "POST /cloudapi/v6/datacenters", fault: "late-visibility", seconds: 2000, count: 1 };
    const position: Position = {
      call: "the claim is about to be written",
      side: "kubernetes",
      trap: { moment: "before", matches: claims },
      faults: [unseen],
    };
    const { id, log } = await overlap(setting, position, async (frozenAt) => {
      expect(await platform.named("datacenters", "subject")).toHaveLength(2);
      await platform.steering.call("POST", "/_simulator/advance", { seconds: unseen.seconds });
      // Longer than the deadline of the frozen process for its claim.
      await until(() => (performance.now() - frozenAt > 31_000 ? undefined : "the claim may still be answered"), {
        title: "freezing",
      });
    });
    expect(log).toContain("replaced meanwhile: deleting the Datacenter that it created");
    await until(
      async () => {
        const found = (await platform.named("datacenters", "subject")).map((each) => each.id);
        return found.length === 1 && found[0] === id ? undefined : `there is ${found}, and ${id} is claimed`;
      },
      { title: "deletion" },
    );
  });

  it.concurrent.for(positions)("$call", async (position) => {
    const { id, found } = (await outcomes.get(position)) ?? expect.unreachable();
    expect(found.map((each) => each.id)).toEqual([id]);
  });
});
