import { beforeAll, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { z } from "zod";
import { cluster } from "./harness.ts";
import { type Landscape, landscape } from "./landscape.ts";
import { datacenter, ipBlock, lan, logPipeline, metricPipeline, volume } from "./objects.ts";

let world: Landscape;

beforeAll(async () => {
  world = await landscape({
    simulator: ["--speed", "60"],
    operator: ["--create-deadline", "3s", "--settle", "3s", "--retry", "1s", "--annotate-after", "1s"],
  });
  await world.untilReady("account/main");
});

describe("an object that was replaced by a manifest without finalizers", () => {
  const objects = [datacenter("dc"), lan("net"), volume("disk"), ipBlock("block"), metricPipeline("web")];
  const names = ["datacenter/dc", "lan/net", "volume/disk", "ipblock/block", "metricpipeline/web"];
  const finalizers = (name: string) => world.value(name, "{.metadata.finalizers}");

  beforeAll(async () => {
    await world.apply(...objects);
    await world.untilReady(...names);
    // At rest for good: no write of its own is on its way that would bring the finalizer along.
    for (const name of names) {
      const kept = () => world.value(name, "{.metadata.annotations.mooring\\.dev/external-id}");
      await expect.poll(kept).not.toBe("");
    }
    const input = objects.map((object) => stringify(object)).join("---\n");
    const { code, stderr } = await cluster().kubectl(["-n", world.namespace, "replace", "-f", "-"], { input });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });

  it.for(names)("has its finalizer back by itself: %s", async (name) => {
    await expect.poll(() => finalizers(name)).toBe('["mooring.dev/finalizer"]');
    await world.untilReady(name);
  });

  it("takes its resource along when it is deleted", async () => {
    await world.remove(...objects);
    expect(await world.platform.made()).toEqual({});
  });
});

describe("a namespace that is deleted", () => {
  const COUNT = 5;
  const kept = Array.from({ length: COUNT }, (_, index) => `kept-${index}`);
  const retain = { deletionPolicy: "Retain" };
  const secret = z.object({ data: z.record(z.string(), z.string()) });
  const access = new Map<string, { endpoint: string; key: string }>();
  const push = async (name: string) => {
    const { endpoint = "", key = "" } = access.get(name) ?? {};
    const headers = { apikey: key, "content-type": "text/plain" };
    return (await fetch(endpoint, { method: "POST", headers, body: "alive 1\n" })).status;
  };
  const pushes = async () => Object.fromEntries(await Promise.all(kept.map(async (name) => [name, await push(name)])));
  const all = (status: number) => Object.fromEntries(kept.map((name) => [name, status]));
  const issued = async () => {
    const { byRoute } = await world.platform.calls();
    return Object.entries(byRoute).filter(([route]) => route.startsWith("POST "));
  };

  beforeAll(async () => {
    await world.apply(...kept.map((name) => metricPipeline(name, retain)), logPipeline("logs", retain));
    await world.apply(logPipeline("ends"));
    await world.untilReady(...kept.map((name) => `metricpipeline/${name}`), "logpipeline/logs", "logpipeline/ends");
    for (const name of kept) {
      const { stdout } = await world.kubectl("get", "secret", `${name}-metricpipeline`, "-o", "json");
      const { data } = secret.parse(JSON.parse(stdout));
      const plain = (field: string) => Buffer.from(data[field] ?? "", "base64").toString();
      access.set(name, { endpoint: plain("endpoint"), key: plain("key") });
    }
    expect(await pushes()).toEqual(all(204));
    await world.platform.resetCalls();
    await world.kubectl("delete", "namespace", world.namespace, "--wait=false");
    // What the namespace controller does some seconds later, and in any order: the Secret goes before its object.
    await world.kubectl("delete", "secret", "kept-0-metricpipeline", "ends-logpipeline");
    await world.kubectl("wait", "--for=delete", `namespace/${world.namespace}`, "--timeout=90s");
  });

  it("goes away", async () => {
    const { stdout, stderr } = await cluster().kubectl(["get", "namespace", world.namespace]);
    expect(stdout).toBe("");
    expect(stderr).toContain("not found");
  });

  it("leaves the pipelines that are to be retained, and takes the others along", async () => {
    const { metricPipelines = [], logPipelines = [], ...others } = await world.platform.made();
    expect(others).toEqual({});
    expect(metricPipelines.map(({ properties }) => properties?.name).sort()).toEqual(kept);
    expect(logPipelines.map(({ properties }) => properties?.name)).toEqual(["logs"]);
  });

  it("leaves their keys working, and no new key was asked for", async () => {
    expect(await pushes()).toEqual(all(204));
    expect(await issued()).toEqual([]);
  });
});
