import { bad, fixedParent, long, type Refused, someId } from "../../../manifests.ts";
import { base } from "./base.ts";

const policy = (fields: object) => ({ policy: fields });
const scaleIn = (fields: object) => policy({ scaleInAction: fields });
const scaleOut = (fields: object) => policy({ scaleOutAction: fields });
const replica = (fields: object) => ({ replica: fields });
const nic = (fields: object) => replica({ nics: [{ name: "private", lan: 1, ...fields }] });
const flow = { name: "a", action: "Any", direction: "Ingress", bucket: "flow-logs" };
const root = { name: "root", size: 10, type: "HDD", imageAlias: "ubuntu:latest" };
const volume = (fields: object) => replica({ volumes: [{ ...root, ...fields }] });

export const refused: Refused[] = [
  ...bad(base, "ScalingGroup", [
    ["no datacenter", { datacenterRef: null }, "exactly one of datacenterRef and datacenterId is required"],
    ["two datacenters", { datacenterId: someId }, "exactly one of datacenterRef and datacenterId is required"],
    ["observed without an id", { managementPolicy: "Observe" }, "managementPolicy Observe needs externalId"],
    ["a NIC name of two lines", nic({ name: "a\nb" }), "spec.replica.nics[0].name", "must be one line"],
    ["a key of two lines", volume({ sshKeys: ["ssh-rsa A\nB"] }), "spec.replica.volumes[0].sshKeys[0]", "match"],
    ["no minReplicas", { minReplicas: null }, "minReplicas is required"],
    ["no maxReplicas", { maxReplicas: null }, "maxReplicas is required"],
    ["no policy", { policy: null }, "policy is required"],
    ["no replica", { replica: null }, "replica is required"],
    ["no replicas at all", { minReplicas: 0 }, "spec.minReplicas", "greater than or equal to 1"],
    ["201 replicas", { maxReplicas: 201 }, "spec.maxReplicas", "less than or equal to 200"],
    ["a maximum below the minimum", { minReplicas: 4 }, "maxReplicas must not be less than minReplicas"],
  ]),
  ...bad(base, "ScalingGroup with a policy", [
    ["without a metric", policy({ metric: null }), "spec.policy.metric", "Required value"],
    ["of an unknown metric", policy({ metric: "RAM" }), "spec.policy.metric", '"INSTANCE_NETWORK_IN_BYTES"'],
    ["without a unit", policy({ unit: null }), "spec.policy.unit", "Required value"],
    ["of an unknown unit", policy({ unit: "PERCENT" }), "spec.policy.unit", '"PERCENTAGE"'],
    ["without thresholds", policy({ scaleInThreshold: null }), "spec.policy.scaleInThreshold", "Required value"],
    [
      "whose thresholds are equal",
      policy({ scaleInThreshold: 80 }),
      "spec.policy",
      "scaleInThreshold must be less than scaleOutThreshold",
    ],
    [
      "whose total is too low",
      policy({ unit: "TOTAL", scaleOutThreshold: 39.5 }),
      "scaleOutThreshold must be at least 40 with unit TOTAL",
    ],
    ["over a minute", policy({ range: "1m" }), "spec.policy.range", "must be at least 2m"],
    ["over 119 seconds", policy({ range: "PT1M59S" }), "spec.policy.range", "must be at least 2m"],
    ["over a number", policy({ range: 120 }), "spec.policy.range", "must be of type string"],
    ["over a word", policy({ range: "day" }), "spec.policy.range", "must be a duration such as PT5M or 5m"],
    ["over nothing", policy({ range: "" }), "spec.policy.range", "must be a duration such as PT5M or 5m"],
    ["over a mere P", policy({ range: "P1DT" }), "spec.policy.range", "must be a duration such as PT5M or 5m"],
    [
      "that cools down too fast",
      scaleOut({ cooldownPeriod: "PT119S" }),
      "spec.policy.scaleOutAction.cooldownPeriod",
      "must be from 2m to 24h",
    ],
    [
      "that cools down too slowly",
      scaleIn({ cooldownPeriod: "24h1s" }),
      "spec.policy.scaleInAction.cooldownPeriod",
      "must be from 2m to 24h",
    ],
    ["that adds nothing", scaleOut({ amount: 0 }), "spec.policy.scaleOutAction.amount", "greater than or equal to 1"],
    [
      "that adds 11 VMs",
      scaleOut({ amount: 11 }),
      "spec.policy.scaleOutAction",
      "amount: at most 10 VMs can be added or removed at once; for more set amountType: PERCENTAGE",
    ],
    ["that removes 11 VMs", scaleIn({ amount: 11 }), "spec.policy.scaleInAction", "amount: at most 10 VMs"],
    [
      "that adds 201 percent",
      scaleOut({ amount: 201, amountType: "PERCENTAGE" }),
      "spec.policy.scaleOutAction.amount",
      "less than or equal to 200",
    ],
    ["that adds a share", scaleOut({ amountType: "SHARE" }), "amountType", '"ABSOLUTE", "PERCENTAGE"'],
    ["that removes the best", scaleIn({ terminationPolicy: "BEST" }), "terminationPolicy", '"OLDEST_SERVER_FIRST"'],
    ["that does not grow", policy({ scaleOutAction: null }), "spec.policy.scaleOutAction", "Required value"],
  ]),
  ...bad(base, "ScalingGroup with replicas", [
    ["without cores", replica({ cores: null }), "spec.replica.cores", "Required value"],
    ["of 63 cores", replica({ cores: 63 }), "spec.replica.cores", "less than or equal to 62"],
    ["of 1000 MB", replica({ ram: 1000 }), "spec.replica", "ram must be a multiple of 256 MB (0.25 GB)"],
    ["above 230 GB", replica({ ram: 235_776 }), "spec.replica.ram", "less than or equal to 235520"],
    ["in zone 3", replica({ availabilityZone: "ZONE_3" }), "spec.replica.availabilityZone", '"ZONE_2"'],
    ["of an unknown processor", replica({ cpuFamily: "ARM" }), "spec.replica.cpuFamily", '"INTEL_ICELAKE"'],
    [
      "with 17 NICs",
      replica({ nics: Array.from({ length: 17 }, (_, n) => ({ name: `n${n}`, lan: 1 })) }),
      "spec.replica.nics",
      "16",
    ],
    [
      "with a NIC in no LAN",
      nic({ lan: undefined }),
      "spec.replica.nics[0]",
      "exactly one of lan and lanRef is required",
    ],
    ["with a NIC in two LANs", nic({ lanRef: { name: "a" } }), "spec.replica.nics[0]", "exactly one of lan and lanRef"],
    [
      "with a NIC twice",
      replica({
        nics: [
          { name: "a", lan: 1 },
          { name: "a", lan: 2 },
        ],
      }),
      "spec.replica.nics",
      "name must be unique",
    ],
    [
      "with a target group without a port",
      nic({ targetGroup: { targetGroupId: someId } }),
      "spec.replica.nics[0].targetGroup.port",
      "Required value",
    ],
    [
      "with a target group that is no id",
      nic({ targetGroup: { targetGroupId: "pool", port: 80 } }),
      "spec.replica.nics[0].targetGroup.targetGroupId",
      "must be a UUID",
    ],
    [
      "with a rule for half a range",
      nic({ firewallRules: [{ name: "a", protocol: "TCP", portRangeStart: 1 }] }),
      "spec.replica.nics[0].firewallRules[0]",
      "portRangeStart and portRangeEnd are needed together",
    ],
    [
      "with a rule twice",
      nic({ firewallRules: ["TCP", "UDP"].map((protocol) => ({ name: "a", protocol })) }),
      "spec.replica.nics[0].firewallRules",
      "name must be unique",
    ],
    ["with a firewall both ways", nic({ firewallType: "BOTH" }), "spec.replica.nics[0].firewallType", "BIDIRECTIONAL"],
    [
      "with a flow log without a bucket",
      nic({ flowLogs: [{ ...flow, bucket: undefined }] }),
      "bucket",
      "Required value",
    ],
    [
      "with a flow log into no bucket",
      nic({ flowLogs: [{ ...flow, bucket: "Logs" }] }),
      "spec.replica.nics[0].flowLogs[0].bucket",
      "must be the name of a bucket",
    ],
    ["with two flow logs", nic({ flowLogs: [flow, { ...flow, name: "b" }] }), "spec.replica.nics[0].flowLogs", "1"],
    [
      "with too much weight",
      nic({ targetGroup: { targetGroupId: someId, port: 80, weight: 257 } }),
      "spec.replica.nics[0].targetGroup.weight",
      "less than or equal to 256",
    ],
  ]),
  ...bad(base, "ScalingGroup with a volume", [
    ["without a size", volume({ size: undefined }), "spec.replica.volumes[0].size", "Required value"],
    ["of a Cube's type", volume({ type: "DAS" }), "spec.replica.volumes[0].type", '"SSD Premium"'],
    [
      "without an image",
      volume({ imageAlias: undefined }),
      "spec.replica.volumes[0]",
      "exactly one of image, imageAlias, snapshotRef and imageLookup is required",
    ],
    ["with two images", volume({ image: someId }), "spec.replica.volumes[0]", "exactly one of image, imageAlias"],
    [
      "with an image and a Snapshot",
      volume({ snapshotRef: { name: "golden" } }),
      "spec.replica.volumes[0]",
      "exactly one of image, imageAlias",
    ],
    [
      "with a lookup for nothing",
      volume({ imageAlias: undefined, imageLookup: {} }),
      "spec.replica.volumes[0].imageLookup",
      "imageLookup needs an alias, a name or both",
    ],
    ["with an alias that is none", volume({ imageAlias: "ubuntu" }), "imageAlias", "for example ubuntu:latest"],
    ["that boots never", volume({ bootOrder: "NEVER" }), "spec.replica.volumes[0].bootOrder", '"PRIMARY"'],
    ["on an unknown bus", volume({ bus: "SCSI" }), "spec.replica.volumes[0].bus", '"VIRTIO", "IDE"'],
    ["with plain user data", volume({ userData: "#!/bin/sh" }), "userData", "must be base64 without line breaks"],
    ["with user data of no known form", volume({ userData: "aGVsbG8=" }), "userData", "begins with #cloud-config"],
    [
      "with user data twice",
      volume({ userData: "IyEvYmluL3No", userDataSecretRef: { name: "a" } }),
      "spec.replica.volumes[0]",
      "userData and userDataSecretRef exclude each other",
    ],
    [
      "with user data for a snapshot",
      volume({ imageAlias: undefined, snapshotRef: { name: "golden" }, userDataSecretRef: { name: "a" } }),
      "spec.replica.volumes[0]",
      "userData needs an image with cloud-init",
    ],
    [
      "with a password for a snapshot",
      volume({ imageAlias: undefined, snapshotRef: { name: "golden" }, imagePasswordSecretRef: { name: "a" } }),
      "spec.replica.volumes[0]",
      "imagePasswordSecretRef needs an image",
    ],
    [
      "with a password in no Secret",
      volume({ imagePasswordSecretRef: { name: "A b" } }),
      "spec.replica.volumes[0].imagePasswordSecretRef.name",
      "must be the name of an object",
    ],
    ["with a key of 4097 characters", volume({ sshKeys: [long(4097)] }), "spec.replica.volumes[0].sshKeys[0]", "4096"],
    [
      "and 8 more",
      replica({ volumes: Array.from({ length: 9 }, (_, n) => ({ ...root, name: `v${n}` })) }),
      "spec.replica.volumes",
      "8",
    ],
  ]),
];

export const fixed: Refused[] = [...fixedParent(base, "datacenter", "a group cannot move to another datacenter")];
