import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { until } from "../chaos/wait.ts";
import { jsonPath } from "../json-path.ts";
import { type Landscape, landscape } from "../landscape.ts";
import { datacenter, lan, logPipeline, metricPipeline, server, snapshot, volume } from "../objects.ts";

let world: Landscape;

beforeAll(async () => {
  world = await landscape({ operator: ["--create-deadline", "3s", "--settle", "3s", "--retry", "1s"] });
  await world.untilReady("account/main");
});

const creation = "POST /cloudapi/v6/datacenters";
const reasonOf = (name: string) => world.value(name, '{.status.conditions[?(@.type=="Ready")].reason}');
const named = async (name: string) =>
  (await world.platform.resources("datacenters")).filter(({ properties }) => properties?.name === name);

// One fault of each type over a real connection. test/engine/write/backoff.test.ts has every answer to every call.
describe("trouble with the platform is shown for what it is and passes by itself", () => {
  it.each([
    { title: "403", fault: { fault: "status", status: 403 }, reasons: ["Forbidden"] },
    { title: "422", fault: { fault: "status", status: 422 }, reasons: ["Rejected"] },
    { title: "429", fault: { fault: "status", status: 429, retryAfter: 1 }, reasons: ["RateLimited"] },
    { title: "503", fault: { fault: "status", status: 503 }, reasons: ["PlatformUnavailable", "Recovering"] },
    { title: "a timeout", fault: { fault: "hang" }, reasons: ["PlatformUnavailable", "Recovering"] },
    { title: "a reset connection", fault: { fault: "reset" }, reasons: ["PlatformUnavailable", "Recovering"] },
  ])("$title", async ({ title, fault, reasons }) => {
    const name = `dc-${title.replaceAll(/[^a-z0-9]+/gi, "-").toLowerCase()}`;
    await world.platform.faults({ route: creation, ...fault });
    await world.apply(datacenter(name));
    await expect.poll(() => reasonOf(`datacenter/${name}`), { timeout: 60_000 }).toBeOneOf(reasons);
    await world.platform.faults();
    await world.untilReady(`datacenter/${name}`);
    expect(await named(name)).toHaveLength(1);
  });

  it("a lost answer is found again, not repeated", async () => {
    await world.platform.faults({ route: creation, fault: "response-lost", count: 1 });
    await world.apply(datacenter("dc-answer-lost"));
    await world.untilReady("datacenter/dc-answer-lost");
    const [only, ...more] = await named("dc-answer-lost");
    expect(more).toEqual([]);
    expect(await world.value("datacenter/dc-answer-lost", "{.status.id}")).toBe(only?.id);
  });

  it("a request that fails on the platform stalls with the platform's own words, and is tried again", async () => {
    await world.platform.faults({ route: creation, fault: "request-failed", message: "[VDC-5-17] no room left" });
    await world.apply(datacenter("dc-failed"));
    await world.untilReason("datacenter/dc-failed", "ProvisioningFailed");
    const message = await world.value("datacenter/dc-failed", '{.status.conditions[?(@.type=="Stalled")].message}');
    expect(message).toContain("[VDC-5-17] no room left");
    await expect.poll(() => world.describe("datacenter/dc-failed")).toMatch(/Warning\s+ProvisioningFailed/);
    await world.platform.faults();
    await world.untilReady("datacenter/dc-failed");
    expect(await named("dc-failed")).toHaveLength(1);
  });

  it("a change that is accepted and not made stalls with both values, is sent ever more rarely, and heals", async () => {
    await world.apply(datacenter("dc-deaf"));
    await world.untilReady("datacenter/dc-deaf");
    await world.platform.faults({ route: "PATCH /cloudapi/v6/datacenters/{datacenterId}", fault: "accepted-not-done" });
    await world.patch("datacenter/dc-deaf", { spec: { description: "heard" } });
    await world.untilReason("datacenter/dc-deaf", "NotApplied");
    const message = await world.value("datacenter/dc-deaf", '{.status.conditions[?(@.type=="Stalled")].message}');
    expect(message).toContain("spec.description is heard, the platform accepted the change 4 times and still shows ");
    await expect.poll(() => world.describe("datacenter/dc-deaf")).toMatch(/Warning\s+NotApplied/);
    await world.platform.faults();
    await world.annotate("datacenter/dc-deaf", "mooring.dev/reconcile-at=now");
    await world.untilReady("datacenter/dc-deaf");
    expect(await named("dc-deaf")).toMatchObject([{ properties: { description: "heard" } }]);
  });

  it("a change is told in an Event although somebody asks for a look while the platform answers", async () => {
    await world.apply(datacenter("dc-noted"));
    await world.untilReady("datacenter/dc-noted");
    await world.platform.faults({ route: "PATCH /cloudapi/v6/datacenters/{datacenterId}", fault: "slow", seconds: 3 });
    await world.patch("datacenter/dc-noted", { spec: { description: "noted" } });
    const shown = async () => (await named("dc-noted")).map(({ properties }) => properties?.description);
    await expect.poll(shown, { interval: 50 }).toEqual(["noted"]);
    await world.annotate("datacenter/dc-noted", "mooring.dev/reconcile-at=now");
    await world.platform.faults();
    await world.untilReady("datacenter/dc-noted");
    await expect
      .poll(() => world.describe("datacenter/dc-noted"))
      .toMatch(/Normal\s+Updated.*asked the platform to update: description/);
  });

  it("a refused token stalls the Account, and a new one in the Secret is noticed without a restart", async () => {
    const { token } = world.platform;
    const secret = (value: string) => ({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "token" },
      stringData: { token: value },
    });
    await world.apply(secret("not-a-token"));
    await world.untilReason("account/main", "Unauthorized");
    await world.apply(datacenter("dc-later"));
    await world.untilReason("datacenter/dc-later", "AccountNotReady");
    await world.apply(secret(token));
    await world.untilReady("account/main", "datacenter/dc-later");
    expect(world.operator.log()).not.toContain(token);
  });

  it("a Secret without the key says what to do", async () => {
    await world.apply({
      apiVersion: "mooring.dev/v1alpha1",
      kind: "Account",
      metadata: { name: "other" },
      spec: { endpoints: { api: world.platform.url }, credentialsSecretRef: { name: "nowhere" } },
    });
    await world.untilReason("account/other", "CredentialsMissing");
    const message = await world.value("account/other", '{.status.conditions[?(@.type=="Ready")].message}');
    expect(message).toMatch(/^credentialsSecretRef: Secret nowhere in namespace \S+ does not exist/);
    await world.remove("account/other");
  });

  it("a server waits for its datacenter and says which one", async () => {
    await world.apply(server("early", { datacenterRef: { name: "comes-later" } }));
    await world.untilReason("server/early", "ReferenceNotFound");
    await world.apply(datacenter("comes-later"));
    await world.untilReady("server/early");
  });

  it("a value that only the platform can refuse stalls the object, with the name of the field", async () => {
    await world.apply(datacenter("nowhere", { location: "xx/yyy" }));
    await world.untilReason("datacenter/nowhere", "Rejected");
    const message = await world.value("datacenter/nowhere", '{.status.conditions[?(@.type=="Stalled")].message}');
    expect(message).toMatch(/^spec\.location: /);
  });
});

describe("failed changes of regional services", () => {
  const regional = [
    {
      collection: "metricPipelines",
      kind: "MetricPipeline",
      manifest: metricPipeline,
      service: "monitoring",
      change: "PUT",
    },
    { collection: "logPipelines", kind: "LogPipeline", manifest: logPipeline, service: "logging", change: "PATCH" },
  ];
  const why = "[VDC-5-17] no room left";

  beforeAll(async () => {
    const routes = regional.flatMap(({ service, change }) => [
      `POST /${service}/{region}/pipelines`,
      `${change} /${service}/{region}/pipelines/{pipelineId}`,
    ]);
    await world.platform.faults(...routes.map((route) => ({ route, fault: "request-failed", message: why, count: 1 })));
  });

  it.concurrent.for(regional)(
    "a $kind is made anew unless it was finished, and changed again if it was",
    async ({ collection, kind, manifest }) => {
      const name = `${collection}/fails`;
      const untilReported = (message: string) => {
        const reported = async () =>
          jsonPath(await world.get("events", "involvedObject.name=fails"), "{.items[*].message}");
        return expect.poll(reported, { timeout: 60_000 }).toContain(message);
      };
      const pipelines = async () => (await world.platform.resources(collection)).map(({ id }) => id);
      await world.apply(manifest("fails"));
      await untilReported(`create of the ${kind} failed: ${why}`);
      await world.untilReady(name);
      const made = await pipelines();
      expect(made).toEqual([await world.value(name, "{.status.id}")]);
      await world.apply(manifest("fails", { name: "changed" }));
      await untilReported(`update of the ${kind} failed: ${why}`);
      await world.untilReady(name);
      expect(await pipelines()).toEqual(made);
    },
  );
});

describe("a write that is lost is not taken for an equal one before it", () => {
  const inside = { datacenterRef: { name: "dc-equals" } };
  const requests = z.object({ items: z.array(z.unknown()) });
  const lans = async () => {
    const home = await world.value("datacenter/dc-equals", "{.status.id}");
    return (await world.platform.resources("lans")).flatMap(({ id, datacenterId }) =>
      datacenterId === home ? id : [],
    );
  };
  const restored = async () => {
    const path = "/cloudapi/v6/requests?depth=2&filter.url=restore-snapshot";
    return requests.parse(await world.platform.call("GET", path)).items.length;
  };
  const restore = async (at: string) => {
    await world.annotate("snapshot/copy", `mooring.dev/restore-at=${at}`);
    const lacking = async () =>
      (await world.value("snapshot/copy", "{.status.restored}")) === at ? undefined : "not yet";
    await until(lacking, { title: `the restoring ${at}` });
  };

  beforeAll(async () => {
    await world.apply(datacenter("dc-equals"), lan("first", inside), volume("source", inside), snapshot("copy"));
    await world.untilReady("lan/first", "snapshot/copy");
    const before = await lans();
    await Promise.all([world.remove("lan/first"), restore("first")]);
    await world.apply(lan("second", inside));
    await world.untilReady("lan/second");
    expect(await lans()).toEqual(before);
    expect(before).toHaveLength(1);
    expect(await restored()).toBe(1);
    const within = "/cloudapi/v6/datacenters/{datacenterId}";
    const routes = [`DELETE ${within}/lans/{lanId}`, `POST ${within}/volumes/{volumeId}/restore-snapshot`];
    await world.platform.faults(...routes.map((route) => ({ route, fault: "request-lost", count: 1 })));
  });

  it.concurrent("the deletion of a LAN for that of the one which had its number", async () => {
    await world.remove("lan/second");
    expect(await lans()).toEqual([]);
  });

  it.concurrent("the restoring of a volume for the one that was asked for before", async () => {
    await restore("second");
    expect(await restored()).toBe(2);
  });
});
