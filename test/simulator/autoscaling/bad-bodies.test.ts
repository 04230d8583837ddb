import { describe, expect, it } from "vitest";
import { z } from "zod";
import { platformForFile, refusal } from "../platform.ts";
import { groupBody, groups, type Parts } from "../scaling.ts";

const platform = await platformForFile();
const datacenter = await platform.datacenter();

const post = (body: object) => platform.call("POST", groups, body);
const sample = (properties: object = {}, parts: Parts = {}) => groupBody(datacenter, properties, parts);
const errors = z.object({ messages: z.array(z.object({ message: z.string() })) });

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
    [
      "that counts traffic in percent",
      () => sample({}, { policy: { metric: "INSTANCE_NETWORK_IN_BYTES", unit: "PERCENTAGE" } }),
      "policy.unit] must not be PERCENTAGE",
    ],
    [
      "that no CPU ever makes larger",
      () => sample({}, { policy: { scaleOutThreshold: 100 } }),
      "policy.scaleOutThreshold] must be less than 100",
    ],
    ["with a volume of 1.5 GB", () => sample({}, { volume: { size: 1.5 } }), "size]"],
    ["in a zone for volumes only", () => sample({}, { replica: { availabilityZone: "ZONE_3" } }), "availabilityZone]"],
    ["without cores", () => sample({}, { replica: { cores: 0 } }), "replicaConfiguration.cores]"],
    ["with 63 cores", () => sample({}, { replica: { cores: 63 } }), "replicaConfiguration.cores]"],
    ["with more than 230 GB of RAM", () => sample({}, { replica: { ram: 235776 } }), "replicaConfiguration.ram]"],
    ["with RAM between the steps", () => sample({}, { replica: { ram: 1152 } }), "replicaConfiguration.ram]"],
    ["with an unknown CPU family", () => sample({}, { replica: { cpuFamily: "Z80" } }), "cpuFamily]"],
    ["with an unknown CPU family", () => sample({}, { replica: { cpuFamily: "AMD_ZEN" } }), "cpuFamily]"],
    ["with LAN 0", () => nicWith({ lan: 0 }), "nics[0].lan]"],
    ["with a long name of a NIC", () => nicWith({ name: "x".repeat(256) }), "nics[0].name]"],
    [
      "with a flow log into a bucket that does not exist",
      () => nicWith({ flowLogs: [{ name: "a", action: "ALL", direction: "EGRESS", bucket: "none-such/web" }] }),
      "nics[0].flowLogs[0].bucket] the bucket none-such does not exist",
    ],
    [
      "with two flow logs on a NIC",
      () =>
        nicWith({ flowLogs: Array(2).fill({ name: "a", action: "ALL", direction: "EGRESS", bucket: "flow-logs" }) }),
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
