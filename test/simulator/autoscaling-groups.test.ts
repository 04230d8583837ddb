import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { items, type Platform, refusal, resource, startPlatform } from "./platform.ts";
import { groupBody, groups, type Parts, scalerFor } from "./scaling.ts";

let platform: Platform;
let scaler: ReturnType<typeof scalerFor>;
let datacenter: string;
beforeAll(async () => {
  platform = await startPlatform();
  scaler = scalerFor(platform);
  datacenter = await platform.datacenter();
});
afterAll(() => platform.close());

const post = (body: object) => platform.call("POST", groups, body);
const sample = (properties: object = {}, parts: Parts = {}) => groupBody(datacenter, properties, parts);
const errors = z.object({ messages: z.array(z.object({ message: z.string() })) });

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
    const { token } = await platform.user("scaler@example.org");
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

describe("a body is refused", () => {
  const nicWith = (nic: object) => sample({}, { nic });
  const volumeWith = (volume: object) => sample({}, { volume });
  it.each<[string, () => object, string]>([
    ["without a name", () => sample({ name: undefined }), "name] is required"],
    ["with an empty name", () => sample({ name: "" }), "name]"],
    ["with a name of 256 characters", () => sample({ name: "x".repeat(256) }), "name]"],
    ["with no replica at least", () => sample({ minReplicaCount: 0 }), "minReplicaCount]"],
    ["with more than 100 replicas", () => sample({ maxReplicaCount: 101 }), "maxReplicaCount]"],
    ["with max below min", () => sample({ minReplicaCount: 4, maxReplicaCount: 3 }), "maxReplicaCount] must not"],
    ["with a target outside", () => sample({ targetReplicaCount: 6 }), "targetReplicaCount] must lie"],
    ["with an unknown metric", () => sample({}, { policy: { metric: "MOOD" } }), "policy.metric]"],
    ["with an unknown unit", () => sample({}, { policy: { unit: "FURLONG" } }), "policy.unit]"],
    ["with a range below two minutes", () => sample({}, { policy: { range: "PT1M" } }), "policy.range]"],
    ["with a range that is no duration", () => sample({}, { policy: { range: "soon" } }), "policy.range]"],
    [
      "with thresholds that cross",
      () => sample({}, { policy: { scaleInThreshold: 80 } }),
      "policy.scaleOutThreshold] must be greater",
    ],
    [
      "with less than 40 to scale out by the unit TOTAL",
      () => sample({}, { policy: { unit: "TOTAL", scaleOutThreshold: 39 } }),
      "policy.scaleOutThreshold] must be at least 40",
    ],
    ["adding eleven at once", () => sample({}, { scaleOut: { amount: 11 } }), "scaleOutAction.amount]"],
    ["removing none at once", () => sample({}, { scaleIn: { amount: 0 } }), "scaleInAction.amount]"],
    [
      "adding 201 percent",
      () => sample({}, { scaleOut: { amount: 201, amountType: "PERCENTAGE" } }),
      "scaleOutAction.amount]",
    ],
    ["with an unknown amount type", () => sample({}, { scaleOut: { amountType: "SOME" } }), "amountType]"],
    [
      "with a cooldown below two minutes",
      () => sample({}, { scaleOut: { cooldownPeriod: "119s" } }),
      "cooldownPeriod]",
    ],
    ["with a cooldown above a day", () => sample({}, { scaleIn: { cooldownPeriod: "PT25H" } }), "cooldownPeriod]"],
    [
      "with an unknown termination policy",
      () => sample({}, { scaleIn: { terminationPolicy: "MINE" } }),
      "terminationPolicy]",
    ],
    ["silent about volumes", () => sample({}, { scaleIn: { deleteVolumes: undefined } }), "deleteVolumes] is required"],
    ["in a zone for volumes only", () => sample({}, { replica: { availabilityZone: "ZONE_3" } }), "availabilityZone]"],
    ["without cores", () => sample({}, { replica: { cores: 0 } }), "replicaConfiguration.cores]"],
    ["with 63 cores", () => sample({}, { replica: { cores: 63 } }), "replicaConfiguration.cores]"],
    ["with more than 230 GB of RAM", () => sample({}, { replica: { ram: 235776 } }), "replicaConfiguration.ram]"],
    ["with RAM between the steps", () => sample({}, { replica: { ram: 1152 } }), "replicaConfiguration.ram]"],
    ["with an unknown CPU family", () => sample({}, { replica: { cpuFamily: "Z80" } }), "cpuFamily]"],
    [
      "with a CPU family that only servers have",
      () => sample({}, { replica: { cpuFamily: "AMD_EPYC" } }),
      "cpuFamily]",
    ],
    ["with LAN 0", () => nicWith({ lan: 0 }), "nics[0].lan]"],
    ["with a long name of a NIC", () => nicWith({ name: "x".repeat(256) }), "nics[0].name]"],
    [
      "with two flow logs on a NIC",
      () => nicWith({ flowLogs: Array(2).fill({ name: "a", action: "ALL", direction: "EGRESS", bucket: "b" }) }),
      "nics[0].flowLogs]",
    ],
    [
      "with ports for a protocol without",
      () => nicWith({ firewallRules: [{ protocol: "ICMP", portRangeStart: 1, portRangeEnd: 2 }] }),
      "nics[0].firewallRules[0].portRangeStart]",
    ],
    [
      "with a target group that does not exist",
      () => nicWith({ targetGroup: { targetGroupId: "none", port: 80, weight: 1 } }),
      "nics[0].targetGroup.targetGroupId] the target group does not exist",
    ],
    ["with a volume from nothing", () => volumeWith({ imageAlias: undefined }), "volumes[0].image] needs exactly one"],
    ["with a volume from two images", () => volumeWith({ image: "some" }), "volumes[0].imageAlias] needs exactly one"],
    ["with an image that does not exist", () => volumeWith({ imageAlias: "plan9:latest" }), "volumes[0].imageAlias]"],
    ["with a volume of no size", () => volumeWith({ size: 0 }), "volumes[0].size]"],
    ["with a volume of another type", () => volumeWith({ type: "DAS" }), "volumes[0].type]"],
    ["with an unknown bus", () => volumeWith({ bus: "UNKNOWN" }), "volumes[0].bus]"],
    ["with an unknown boot order", () => volumeWith({ bootOrder: "LAST" }), "volumes[0].bootOrder]"],
    ["with user data that is not base64", () => volumeWith({ userData: "#cloud-config" }), "volumes[0].userData]"],
    [
      "with user data of no known format",
      () => volumeWith({ userData: "aGVsbG8=" }),
      "volumes[0].userData] must begin",
    ],
    [
      "with user data for an image without cloud-init",
      () => volumeWith({ imageAlias: "windows:2022", userData: "IyEvYmluL3No" }),
      "volumes[0].userData] needs an image with cloud-init",
    ],
  ])("%s", async (_, body, expected) => {
    expect(refusal(await post(body()), 422, "100")).toContain(expected);
  });

  it("with all its faults at once", async () => {
    const body = sample(
      { name: "", minReplicaCount: 4, maxReplicaCount: 3 },
      { policy: { unit: "TOTAL", scaleOutThreshold: 10 }, nic: { lan: 0 }, volume: { size: 0 } },
    );
    const { messages } = errors.parse((await post(body)).body);
    expect(messages.map(({ message }) => /^\[\(root\)\.properties\.(.*?)\] /.exec(message)?.[1]).sort()).toEqual([
      "maxReplicaCount",
      "name",
      "policy.scaleOutThreshold",
      "policy.scaleOutThreshold",
      "replicaConfiguration.nics[0].lan",
      "replicaConfiguration.volumes[0].size",
    ]);
  });

  it.each([
    ["is not JSON", "{"],
    ["is a list", "[]"],
    ["is empty", ""],
  ])("that %s", async (_, raw) => {
    refusal(
      await platform.call("POST", groups, undefined, { raw, headers: { "content-type": "application/json" } }),
      422,
      "100",
    );
  });
});

describe("reading", () => {
  let group: string;
  beforeAll(async () => {
    group = await scaler.group(sample({ name: "read", minReplicaCount: 1 }));
  });
  const own = { metadata: { state: "AVAILABLE" }, properties: { name: "read" } };

  it("shows by depth first the group, then its collections, then what is in them", async () => {
    const at = async (depth: number) => (await platform.call("GET", `${group}?depth=${depth}`)).body;
    expect(await at(0)).toMatchObject(own);
    expect(await at(0)).not.toHaveProperty("entities");
    expect(await at(1)).toMatchObject({
      ...own,
      entities: { actions: { type: "collection" }, servers: { type: "collection" } },
    });
    expect(await at(1)).not.toHaveProperty("entities.servers.items");
    expect(await at(2)).toMatchObject({
      ...own,
      entities: {
        actions: { items: [{ type: "action", properties: { actionType: "SCALE_OUT" } }] },
        servers: { items: [{ type: "server", properties: { name: expect.stringMatching(/^read-/) } }] },
      },
    });
  });

  it("lists references, and items from depth 1 on", async () => {
    const id = group.split("/").at(-1);
    const at = async (depth: number) =>
      items(await platform.call("GET", `${groups}?depth=${depth}`)).find((each) => each.id === id);
    const reference = { id, type: "autoscaling-group", href: `${platform.ready.endpoints.api}${group}` };
    expect(await at(0)).toEqual(reference);
    expect(await at(1)).toMatchObject({ ...reference, ...own, entities: { servers: { type: "collection" } } });
    expect(await at(1)).not.toHaveProperty("entities.servers.items");
    expect(await at(2)).toHaveProperty("entities.servers.items");
    refusal(await platform.call("GET", `${groups}?depth=11`), 422, "100");
  });

  it("orders by a property", async () => {
    await scaler.group(sample({ name: "aaa" }));
    const names = items(await platform.call("GET", `${groups}?depth=1&orderBy=name`)).map(
      (each) => z.object({ name: z.string() }).parse(each.properties).name,
    );
    expect(names).toEqual([...names].sort());
    expect(names[0]).toBe("aaa");
  });

  it("finds actions and replicas by their own ids only", async () => {
    const [replica] = await scaler.replicas(group);
    const [action] = items(await platform.call("GET", `${group}/actions`));
    expect(await platform.call("GET", `${group}/servers/${replica?.id}`)).toMatchObject({ status: 200, body: replica });
    expect(await platform.call("GET", `${group}/actions/${action?.id}`)).toMatchObject({
      status: 200,
      body: { ...action, properties: { actionStatus: "SUCCESSFUL", actionType: "SCALE_OUT" } },
    });
    const { name, datacenterServer } = replica?.properties ?? {};
    for (const wrong of [name, datacenterServer?.id]) {
      refusal(await platform.call("GET", `${group}/servers/${wrong}`), 404, "309");
    }
    refusal(await platform.call("GET", `${groups}/none`), 404, "309");
    refusal(await platform.call("GET", `${groups}/none/actions`), 404, "309");
  });

  it("works below both bases and names the early access one", async () => {
    const alias = group.replace("/v1.ea", "");
    for (const path of ["", "/actions", "/servers"]) {
      const [first, second] = [await platform.call("GET", group + path), await platform.call("GET", alias + path)];
      expect(first.status).toBe(200);
      expect(second.body).toEqual(first.body);
    }
    const made = await platform.call("POST", "/autoscaling/groups", sample());
    expect(made.status).toBe(201);
    expect(resource(made).href).toContain("/autoscaling/v1.ea/groups/");
  });

  it("needs credentials", async () => {
    refusal(await platform.call("GET", groups, undefined, { authorization: null }), 401, "315");
  });

  it("is part of the steering state", async () => {
    expect(await platform.steer("GET", "state")).toMatchObject({
      groups: expect.arrayContaining([
        expect.objectContaining({ id: group.split("/").at(-1), name: "read", state: "AVAILABLE" }),
      ]),
    });
  });
});

describe("changing a group", () => {
  it("takes all properties and shows them at once", async () => {
    const group = await scaler.group(sample());
    const { metadata } = await scaler.read(group);
    const answer = await platform.call("PUT", group, sample({ name: "renamed", maxReplicaCount: 200 }));
    expect(answer).toMatchObject({ status: 200, body: { properties: { name: "renamed", maxReplicaCount: 200 } } });
    expect((await scaler.read(group)).metadata.etag).not.toBe(metadata.etag);
  });

  it.each(["datacenter", "name", "minReplicaCount", "maxReplicaCount", "policy", "replicaConfiguration"])(
    "is refused without %s",
    async (property) => {
      const group = await scaler.group(sample());
      const answer = await platform.call("PUT", group, sample({ [property]: undefined }));
      expect(refusal(answer, 422, "100")).toBe(`[(root).properties.${property}] is required`);
    },
  );

  it("allows up to 200 replicas, but no other datacenter", async () => {
    const group = await scaler.group(sample());
    const put = (properties: object) => platform.call("PUT", group, sample(properties));
    expect(refusal(await put({ maxReplicaCount: 201 }), 422, "100")).toContain("maxReplicaCount]");
    const other = await platform.datacenter();
    const moved = await platform.call("PUT", group, groupBody(other));
    expect(refusal(moved, 422, "100")).toContain("datacenter.id] can be set at creation only");
  });
});

describe("deleting a group", () => {
  it("removes the replicas with their volumes, and stays to be seen until they have gone", async () => {
    const own = await platform.datacenter();
    const group = await scaler.group(groupBody(own, {}, { scaleIn: { deleteVolumes: false } }));
    expect(await scaler.servers(own)).toHaveLength(2);
    expect(await platform.call("DELETE", group)).toMatchObject({ status: 204, body: undefined });
    expect(await scaler.stateOf(group)).toBe("BUSY");
    expect(refusal(await platform.call("PUT", group, groupBody(own)), 422, "200")).toContain("being deleted");
    await platform.advance(10);
    refusal(await platform.call("GET", group), 404, "309");
    refusal(await platform.call("GET", `${group}/actions`), 404, "309");
    expect(await scaler.servers(own)).toEqual([]);
    expect(items(await platform.core("GET", `${own}/volumes`))).toEqual([]);
  });

  it("stops a group that is still growing and removes what it has made", async () => {
    const own = await platform.datacenter();
    const { id } = resource(await post(groupBody(own, { minReplicaCount: 5 })));
    expect((await platform.call("DELETE", `${groups}/${id}`)).status).toBe(204);
    await platform.advance(40);
    refusal(await platform.call("GET", `${groups}/${id}`), 404, "309");
    expect(await scaler.servers(own)).toEqual([]);
  });

  it("happens by itself when the datacenter is deleted", async () => {
    const own = await platform.datacenter();
    const group = await scaler.group(groupBody(own));
    await platform.done("DELETE", own);
    refusal(await platform.call("GET", group), 404, "309");
  });
});
