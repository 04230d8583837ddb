import { describe, expect, it } from "vitest";
import { z } from "zod";
import { items, platformForFile, refusal, resource } from "../platform.ts";
import { groupBody, groups, type Parts, scalerFor } from "../scaling.ts";

const platform = await platformForFile();
const scaler = scalerFor(platform);
const datacenter = await platform.datacenter();

const post = (body: object) => platform.call("POST", groups, body);
const sample = (properties: object = {}, parts: Parts = {}) => groupBody(datacenter, properties, parts);

describe("creating a group", () => {
  it("answers 201 with the group, BUSY, and the action that has started", async () => {
    const answer = await post(sample());
    expect(answer.status).toBe(201);
    const group = resource(answer);
    expect(group).toMatchObject({
      type: "autoscaling-group",
      href: `${platform.ready.endpoints.api}${groups}/${group.id}`,
      metadata: { state: "BUSY", createdBy: platform.ready.username, etag: expect.any(String) },
      properties: {
        name: "web",
        location: "de/fra",
        datacenter: { id: datacenter.split("/")[2], type: "datacenter", href: expect.stringMatching(/cloudapi/) },
        policy: { scaleInAction: { terminationPolicy: "OLDEST_SERVER_FIRST" } },
        replicaConfiguration: { nics: [{ dhcp: true }], volumes: [{ bus: "VIRTIO" }] },
      },
      entities: {
        actions: { id: `${group.id}/actions`, type: "collection", href: `${group.href}/actions` },
        servers: { id: `${group.id}/servers`, type: "collection", href: `${group.href}/servers` },
      },
      startedActions: [{ type: "action", href: expect.stringContaining(`${group.href}/actions/`) }],
    });
    expect(await scaler.actions(`${groups}/${group.id}`)).toMatchObject([
      {
        type: "action",
        metadata: { state: "BUSY" },
        properties: { actionType: "SCALE_OUT", actionStatus: "IN_PROGRESS" },
      },
    ]);
  });

  it("makes the least number of servers; then the group is AVAILABLE and the action SUCCESSFUL", async () => {
    const group = await scaler.group(sample({ name: "first" }));
    expect(await scaler.stateOf(group)).toBe("AVAILABLE");
    expect(await scaler.actions(group)).toMatchObject([{ properties: { actionStatus: "SUCCESSFUL" } }]);
    const replicas = await scaler.replicas(group);
    expect(replicas).toHaveLength(2);
    for (const { id, properties } of replicas) {
      expect(properties.name).toMatch(/^first-[0-9a-f]{8}$/);
      expect(properties.datacenterServer.id).not.toBe(id);
      for (const wrong of [id, properties.name]) {
        refusal(await platform.core("GET", `${datacenter}/servers/${wrong}`), 404, "309");
      }
      const server = resource(
        await platform.core("GET", `${datacenter}/servers/${properties.datacenterServer.id}?depth=2`),
      );
      expect(server).toMatchObject({
        href: properties.datacenterServer.href,
        metadata: { state: "AVAILABLE" },
        properties: { name: properties.name, cores: 2, ram: 2048, vmState: "RUNNING" },
        entities: {
          volumes: {
            items: [{ properties: { name: "os", size: 10, type: "SSD Premium", imageAlias: "ubuntu:latest" } }],
          },
          nics: { items: [{ properties: { name: "n0", lan: 1, dhcp: true } }] },
        },
      });
    }
  });

  it("leaves a request per server, made on behalf of the user", async () => {
    const { token, userId } = await platform.user("scaler@example.org");
    await platform.share(datacenter, userId);
    const answer = await platform.call("POST", groups, sample({ name: "logged" }), {
      authorization: `Bearer ${token}`,
    });
    await platform.advance(15);
    const [replica] = await scaler.replicas(`${groups}/${resource(answer).id}`);
    const found = items(
      await platform.core("GET", `/requests?depth=1&filter.body=${replica?.properties.name}&filter.method=POST`),
    );
    expect(found).toMatchObject([
      {
        metadata: { createdBy: "scaler@example.org" },
        properties: { method: "POST", url: `${platform.ready.endpoints.api}/cloudapi/v6${datacenter}/servers` },
      },
    ]);
  });

  it("gives servers their firewall rules and the flow log", async () => {
    const group = await scaler.group(
      sample(
        {},
        {
          nic: {
            firewallActive: true,
            firewallRules: [{ name: "http", protocol: "TCP", portRangeStart: 80, portRangeEnd: 80 }],
            flowLogs: [{ name: "traffic", action: "ALL", direction: "INGRESS", bucket: "flow-logs" }],
          },
        },
      ),
    );
    const [replica] = await scaler.replicas(group);
    const path = `${datacenter}/servers/${replica?.properties.datacenterServer.id}/nics?depth=3`;
    expect(items(await platform.core("GET", path))).toMatchObject([
      {
        properties: { firewallActive: true },
        entities: {
          firewallrules: { items: [{ properties: { name: "http", protocol: "TCP" } }] },
          flowlogs: { items: [{ properties: { name: "traffic", bucket: "flow-logs" } }] },
        },
      },
    ]);
  });

  it("repeats units and volume types in the caller's spelling and writes durations as ISO 8601", async () => {
    const { properties } = resource(
      await post(
        sample(
          {},
          {
            policy: { range: "120s", unit: "PERCENTAGE" },
            scaleIn: { cooldownPeriod: "5m" },
            scaleOut: { cooldownPeriod: "PT600S" },
            volume: { type: "SSD Standard" },
          },
        ),
      ),
    );
    expect(properties).toMatchObject({
      policy: {
        range: "PT2M",
        unit: "PERCENTAGE",
        scaleInAction: { cooldownPeriod: "PT5M" },
        scaleOutAction: { cooldownPeriod: "PT600S" },
      },
      replicaConfiguration: { volumes: [{ type: "SSD Standard" }] },
    });
  });

  it("keeps the volumes of removed replicas unless it is told otherwise", async () => {
    const { properties } = resource(await post(sample({}, { scaleIn: { deleteVolumes: undefined } })));
    expect(properties).toMatchObject({ policy: { scaleInAction: { deleteVolumes: false } } });
  });

  it.each(["AMD_EPYC", "AMD_TURIN", "INTEL_ICELAKE"])("takes replicas of the family %s", async (cpuFamily) => {
    expect(await post(sample({}, { replica: { cpuFamily } }))).toMatchObject({ status: 201 });
  });

  it.each(["PER_HOUR", "PER_MINUTE", "PER_SECOND", "TOTAL", "PERCENTAGE"])("takes the unit %s", async (unit) => {
    expect(resource(await post(sample({}, { policy: { unit } }))).properties).toMatchObject({ policy: { unit } });
  });

  it.each([
    "CPU_UTILIZATION_AVERAGE",
    "NETWORK_IN_BYTES",
    "NETWORK_IN_PACKETS",
    "NETWORK_OUT_BYTES",
    "NETWORK_OUT_PACKETS",
  ])("takes the metric INSTANCE_%s", async (name) => {
    const metric = `INSTANCE_${name}`;
    expect(resource(await post(sample({}, { policy: { metric } }))).properties).toMatchObject({ policy: { metric } });
  });

  it.each(["HDD", "SSD", "SSD_STANDARD", "SSD_PREMIUM", "SSD Standard", "SSD Premium"])(
    "takes volumes of type %s and repeats it",
    async (type) => {
      expect(resource(await post(sample({}, { volume: { type } }))).properties).toMatchObject({
        replicaConfiguration: { volumes: [{ type }] },
      });
    },
  );

  it.each([
    ...["INTEL_SKYLAKE", "INTEL_XEON", "INTEL_ICELAKE", "INTEL_SIERRAFOREST", "AMD_OPTERON"].map((cpuFamily) => ({
      cpuFamily,
    })),
    ...["AUTO", "ZONE_1", "ZONE_2"].map((availabilityZone) => ({ availabilityZone })),
    { cores: 62, ram: 235520 },
  ])("takes replicas with %o", async (replica) => {
    const group = await scaler.group(sample({ minReplicaCount: 1 }, { replica }));
    const [made] = await scaler.replicas(group);
    const path = `${datacenter}/servers/${made?.properties.datacenterServer.id}`;
    expect(resource(await platform.core("GET", path)).properties).toMatchObject(replica);
  });

  it.each([
    ["PT24H", "PT24H"],
    ["90m", "PT1H30M"],
    ["3600s", "PT1H"],
    ["1h30m", "PT1H30M"],
    ["P1D", "P1D"],
    ["150s", "PT2M30S"],
  ])("takes the range %s and shows it as %s", async (range, shown) => {
    const { properties } = resource(await post(sample({}, { policy: { range } })));
    expect(properties).toMatchObject({ policy: { range: shown } });
  });

  it("fills in range and cooldown that were left out", async () => {
    const left = { cooldownPeriod: undefined };
    const parts = { policy: { range: undefined }, scaleIn: left, scaleOut: left };
    expect(resource(await post(sample({}, parts))).properties).toMatchObject({
      policy: { range: "PT2M", scaleInAction: { cooldownPeriod: "PT5M" }, scaleOutAction: { cooldownPeriod: "PT5M" } },
    });
  });

  it("never shows the password of the image again", async () => {
    const answer = await post(sample({}, { volume: { imagePassword: "hunter2hunter2" } }));
    expect(answer.status).toBe(201);
    const read = await platform.call("GET", `${groups}/${resource(answer).id}`);
    const state = await platform.steer("GET", "state");
    const shown = z.object({ groups: z.unknown() }).parse(state).groups;
    for (const seen of [answer.body, read.body, shown]) expect(JSON.stringify(seen)).not.toContain("hunter2");
  });

  it("waits for nobody: a datacenter that is BUSY or does not exist is refused", async () => {
    const made = resource(
      await platform.core("POST", "/datacenters", { properties: { name: "new", location: "de/txl" } }),
    );
    await platform.advance(1);
    expect(refusal(await post(groupBody(`/datacenters/${made.id}`)), 422, "200")).toContain("BUSY");
    const wrong = refusal(await post(groupBody("/datacenters/none")), 422, "100");
    expect(wrong).toBe("[(root).properties.datacenter.id] the datacenter does not exist");
  });
});
