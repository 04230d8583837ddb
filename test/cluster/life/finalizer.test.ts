import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { z } from "zod";
import { until } from "../chaos/wait.ts";
import { cluster } from "../harness.ts";
import { type Landscape, landscape } from "../landscape.ts";
import { datacenter, ipBlock, lan, logPipeline, metricPipeline, volume } from "../objects.ts";

const secretShape = z.object({ data: z.record(z.string(), z.string()) });
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
    // At rest: no write of the operator is pending that would restore the finalizer.
    const kept = (name: string) => world.value(name, "{.metadata.annotations.mooring\\.dev/external-id}");
    for (const name of names) {
      const resting = async () => ((await kept(name)) === "" ? "its id is not in its annotations yet" : undefined);
      await until(resting, { title: name, everyMs: 250 });
    }
    const input = objects.map((object) => stringify(object)).join("---\n");
    const { code, stderr } = await cluster().kubectl(["-n", world.namespace, "replace", "-f", "-"], { input });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });

  it.concurrent.for(names)("has its finalizer back by itself: %s", async (name, { expect }) => {
    await expect.poll(() => finalizers(name)).toBe('["mooring.dev/finalizer"]');
    await world.untilReady(name);
  });

  it("takes its resource along when it is deleted", async () => {
    await world.remove(...objects);
    expect(await world.platform.made()).toEqual({});
  });
});

/** The data of the Secret of a metric pipeline. */
interface Access {
  endpoint: string;
  key: string;
}

async function read(secret: string): Promise<Access> {
  const { data } = secretShape.parse(await world.get(`secret/${secret}`));
  const plain = (field: string) => Buffer.from(data[field] ?? "", "base64").toString();
  return { endpoint: plain("endpoint"), key: plain("key") };
}

async function push({ endpoint, key }: Access): Promise<number> {
  const headers = { apikey: key, "content-type": "text/plain" };
  return (await fetch(endpoint, { method: "POST", headers, body: "alive 1\n" })).status;
}

const renewal = "POST /monitoring/{region}/pipelines/{pipelineId}/key";

describe("a key", () => {
  const lift = () => world.kubectl("delete", "quota", "full", "--ignore-not-found");
  afterAll(lift);

  it("is not ended before the next one can be kept", async () => {
    await world.apply(metricPipeline("guarded"));
    await world.untilReady("metricpipeline/guarded");
    const before = await read("guarded-metricpipeline");
    expect(await push(before)).toBe(204);
    await world.kubectl("create", "quota", "full", "--hard=count/secrets=0");
    const creation = ["create", "secret", "generic", "probe", "--dry-run=server"];
    await expect.poll(async () => (await world.kubectl(...creation)).code).not.toBe(0);
    await world.platform.resetCalls();
    await world.kubectl("delete", "secret", "guarded-metricpipeline");
    const renewals = async () => (await world.platform.calls()).byRoute[renewal] ?? 0;
    const ready = () => world.value("metricpipeline/guarded", '{.status.conditions[?(@.type=="Ready")].status}');
    await expect.poll(async () => (await renewals()) > 0 || (await ready()) !== "True").toBe(true);
    expect(await renewals()).toBe(0);
    expect(await push(before)).toBe(204);

    await lift();
    await world.untilReady("metricpipeline/guarded");
    expect(await renewals()).toBe(1);
    expect([await push(before), await push(await read("guarded-metricpipeline"))]).toEqual([401, 204]);
    await world.remove(metricPipeline("guarded"));
  });
});

describe("a namespace that is deleted", () => {
  const kept = Array.from({ length: 5 }, (_, index) => `kept-${index}`);
  const retain = { deletionPolicy: "Retain" };
  const access = new Map<string, Access>();
  const pushes = async () =>
    Object.fromEntries(await Promise.all([...access].map(async ([name, each]) => [name, await push(each)])));
  const all = (status: number) => Object.fromEntries(kept.map((name) => [name, status]));
  const issued = async () => {
    const { byRoute } = await world.platform.calls();
    return Object.entries(byRoute).filter(([route]) => /^POST .*\/(pipelines|key)$/.test(route));
  };

  beforeAll(async () => {
    await world.apply(...kept.map((name) => metricPipeline(name, retain)), logPipeline("logs", retain));
    await world.apply(logPipeline("ends"));
    await world.untilReady(...kept.map((name) => `metricpipeline/${name}`), "logpipeline/logs", "logpipeline/ends");
    for (const name of kept) access.set(name, await read(`${name}-metricpipeline`));
    expect(await pushes()).toEqual(all(204));
    await world.platform.resetCalls();
    await world.kubectl("delete", "namespace", world.namespace, "--wait=false");
    // The namespace controller deletes in any order, so the Secret may go before its object.
    await world.kubectl("delete", "secret", "kept-0-metricpipeline", "ends-logpipeline");
    await world.kubectl("wait", "--for=delete", `namespace/${world.namespace}`, "--timeout=90s");
  });

  it("goes away", async () => {
    const { stdout, stderr } = await cluster().kubectl(["get", "namespace", world.namespace]);
    expect(stdout).toBe("");
    expect(stderr).toContain("not found");
  });

  it("leaves the pipelines that are to be retained, and takes the others along", async () => {
    const { metricPipelines = [], logPipelines = [] } = await world.platform.made();
    const names = [...metricPipelines, ...logPipelines].map(({ properties }) => properties?.name);
    expect(names).toEqual(expect.arrayContaining([...kept, "logs"]));
    expect(names).not.toContain("ends");
  });

  it("leaves their keys working, and no new key was asked for", async () => {
    expect(await pushes()).toEqual(all(204));
    expect(await issued()).toEqual([]);
  });
});
