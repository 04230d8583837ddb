import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { applyGround, type Ground } from "../ground.ts";
import { subjects } from "../kinds-under-test.ts";
import { api, type Landscape, landscape } from "../landscape.ts";
import { upkeep } from "../life/policies/upkeep.ts";
import { datacenter, logPipeline, metricPipeline } from "../objects.ts";
import { trial } from "../trial.ts";

/** The Accounts of central logging, and their regions. */
const regions = { "centrallogging-alive": "de-fra", "centrallogging-paused": "fr-par" };
const account = z.looseObject({ spec: z.looseObject({}) });

/**
 * The kinds whose resources are read or written in another way. `test/simulator/process/interface.test.ts` holds that the
 * forms differ nowhere else, except in three ways that one life shows: the word for a request that goes on, the second
 * path of auto scaling, which no kind uses, and the activity log. For all other kinds, what the policies of
 * `test/cluster/life` prove is the same with either form.
 */
const differing = ["MetricPipeline", "LogPipeline", "CentralLogging", "KafkaCluster"];
/** Drift, a resource removed by hand, a fixed field and the deletion. They follow on the pause. */
const policies = upkeep.filter(({ title }) => /^(pauses|looks|creates again|refuses a change|deletes)/.test(title));
const containing = (shows: object) => [expect.objectContaining({ properties: expect.objectContaining(shows) })];
const slow = (factor: number) => [
  { fault: "slow-provisioning", factor, route: "POST /monitoring/{region}/pipelines" },
  { fault: "slow-provisioning", factor, route: "POST /logging/{region}/pipelines" },
];

// The platform's description and its public interface differ. The operator must work with each of them alone.
describe.each(["described", "public"])("with the %s interface alone", (form) => {
  let world: Landscape;
  let ground: Ground;
  const main = { accountRef: { name: "main" } };

  beforeAll(async () => {
    world = await landscape({
      simulator: ["--speed", "60", "--interface", form],
      // The four fields of the described log do not say how a deletion ended: it counts once the resource is missing as well.
      operator: ["--create-deadline", "3s", "--settle", "3s", "--retry", "1s", "--missing-after", "5s"],
    });
    const { spec } = account.parse(await world.get("account/main"));
    const accounts = Object.entries(regions).map(([name, slug]) => ({
      apiVersion: api,
      kind: "Account",
      metadata: { name },
      spec: { ...spec, region: slug.replace("-", "/") },
    }));
    // An empty list proves nothing: another pipeline stays when the one of a test is removed by hand.
    const others = [metricPipeline("other", main), logPipeline("other", main)];
    await world.apply(...accounts, datacenter("other", main), ...others);
    ground = await applyGround(world, { ...main, nics: ["flowlog-alive"], regions });
    await world.untilReady("datacenter/other");
  });

  describe("is made, follows its spec and goes", () => {
    for (const subject of subjects) {
      it.concurrent(subject.kind.kind, async ({ expect }) => {
        const it = trial(world, ground, subject, expect);
        const name = it.name("alive");
        await world.apply(it.manifest(name, { ...main, ...subject.own?.(name) }));
        await world.untilReady(it.ref("alive"));
        const made = await it.there("alive");
        expect(made).toEqual(containing(it.shows(name)));
        for (const { state = "AVAILABLE" } of made) expect(state).toBe("AVAILABLE");
        const change = it.change?.(name);
        if (change) {
          await world.apply(it.manifest(name, { ...main, ...subject.own?.(name), ...change.spec }));
          await expect.poll(() => it.there("alive")).toEqual(containing(change.shows));
          await world.untilReady(it.ref("alive"));
        }
        await world.remove(it.ref("alive"));
        await expect.poll(() => it.effects("alive")).toEqual([]);
      });
    }
  });

  it("has five policies to keep", () => expect(policies).toHaveLength(5));

  describe.each(policies)("$title", ({ kept, keep }) => {
    for (const subject of kept.filter(({ kind }) => differing.includes(kind.kind))) {
      it.concurrent(subject.kind.kind, ({ expect }) => {
        const manifest = (name: string, spec?: object) =>
          subject.manifest(name, { ...main, ...subject.own?.(name), ...spec });
        return keep(trial(world, ground, { ...subject, manifest }, expect), expect, world);
      });
    }
  });

  describe("a pipeline", () => {
    const pipelines = { metricPipelines: "metricpipeline/slow", logPipelines: "logpipeline/slow" };
    const rows = Object.entries(pipelines);
    const statesOf = async (collection: string, name: string) =>
      (await world.platform.resources(collection))
        .filter((each) => each.properties?.name === name)
        .map((each) => each.state);
    const states = (name: string) => Promise.all(rows.map(([collection]) => statesOf(collection, name)));
    const reads = async () => {
      const { byRoute } = await world.platform.calls();
      return ["monitoring", "logging"].map((product) => byRoute[`GET /${product}/{region}/pipelines`] ?? 0);
    };

    it("is not Ready before it is", async () => {
      await world.platform.faults(...slow(1_000));
      await world.apply(metricPipeline("slow", main), logPipeline("slow", main));
      await expect.poll(() => states("slow")).toEqual([["PROVISIONING"], ["PROVISIONING"]]);
      await world.platform.resetCalls();
      // Several lists have shown the resource in its real state.
      await expect.poll(async () => Math.min(...(await reads()))).toBeGreaterThan(2);
      for (const [, name] of rows) await world.untilReason(name, "Creating");
      await world.platform.faults();
      await world.platform.call("POST", "/_simulator/advance", { seconds: 10_000 });
      await world.untilReady(...rows.map(([, name]) => name));
      expect(await states("slow")).toEqual([["AVAILABLE"], ["AVAILABLE"]]);
    });

    it("that has failed is told as that, and made anew", async () => {
      await world.platform.faults(
        { fault: "request-failed", route: "POST /monitoring/{region}/pipelines", count: 1 },
        { fault: "request-failed", route: "POST /logging/{region}/pipelines", count: 1 },
      );
      await world.apply(metricPipeline("broken", main), logPipeline("broken", main));
      await world.untilReady("metricpipeline/broken", "logpipeline/broken");
      await world.platform.faults();
      expect(await states("broken")).toEqual([["AVAILABLE"], ["AVAILABLE"]]);
      const reported = z.looseObject({
        items: z.array(z.looseObject({ involvedObject: z.looseObject({ kind: z.string() }) })),
      });
      const failed = async () =>
        reported
          .parse(await world.get("events", "involvedObject.name=broken,reason=ProvisioningFailed"))
          .items.map(({ involvedObject }) => involvedObject.kind)
          .sort();
      await expect.poll(failed).toEqual(["LogPipeline", "MetricPipeline"]);
    });
  });

  it("exports the activity log", async () => {
    const logs = [{ source: "generic", tag: "audit", protocol: "http" }];
    const destination = { logPipelineRef: { name: "audit" } };
    await world.apply(logPipeline("audit", { ...main, logs }), {
      apiVersion: api,
      kind: "ActivityLogExport",
      metadata: { name: "audit" },
      spec: { ...main, destination },
    });
    await world.untilReady("logpipeline/audit");
    await world.platform.call("POST", "/_simulator/advance", { seconds: 180 });
    const delivered = async () => Number(await world.value("activitylogexport/audit", "{.status.entriesDelivered}"));
    await expect.poll(delivered).toBeGreaterThan(0);
    await world.untilReady("activitylogexport/audit");
  });
});
