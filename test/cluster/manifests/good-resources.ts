import { flowLog, gatewayLog, ipBlock, lan, scalingGroup, snapshot, volume } from "./base.ts";
import { each, type GoodRow, good, long, someId } from "./table.ts";

const observe = { managementPolicy: "Observe", externalId: someId };
const image = { licenceType: null, imageAlias: "ubuntu:latest" };
const policy = (fields: object) => ({ policy: fields });
const replica = (fields: object) => ({ replica: fields });
const root = { name: "root", size: 10, type: "HDD", imageAlias: "ubuntu:latest" };
const secret = { name: "boot", key: "user-data" };
const volumeOf = (source: object) => replica({ volumes: [{ name: "root", size: 10, type: "HDD", ...source }] });
const byId = { datacenterRef: null, datacenterId: someId };

/** What must be accepted: each kind as it stands, every boundary, every value of every enumeration. */
export const goodResources = [
  ...good(lan, "Lan", [
    ["as small as can be", {}],
    ["in a datacenter by id", byId],
    ["public, at its longest", { name: long(255), public: true }],
    ...each("ipv6", ["AUTO", "fd00:2000:0:1::/64", "FD00:2000:0000:0001:0000:0000:0000:0000/64"]),
    ["only observed, by its number", { managementPolicy: "Observe", externalId: "1" }],
  ]),
  ...good(ipBlock, "IPBlock", [
    ["as small as can be", {}],
    ["as large as can be", { size: 10_000 }],
    ["in a location of three parts", { location: "de/fra/2" }],
    ["with its addresses in a Secret", { output: { secretName: "addresses" } }],
    ["with its addresses in a ConfigMap", { output: { configMapName: "addresses.v2" } }],
    ["only observed, by nothing but its id", { ...observe, location: null, size: null }],
  ]),
  ...good(volume, "Volume", [
    ["empty", {}],
    ["in a datacenter by id", byId],
    ["as large as can be", { size: 4096 }],
    ["attached to a Server", { attachTo: { serverRef: { name: "web" } } }],
    ["attached to a server by id", { attachTo: { serverId: someId } }],
    ...each("type", ["HDD", "SSD Standard", "SSD Premium"]),
    ...each("availabilityZone", ["AUTO", "ZONE_1", "ZONE_2", "ZONE_3"]),
    ...each("bus", ["VIRTIO", "IDE"]),
    ["from an image by id", { licenceType: null, image: someId }],
    ["from a snapshot", { licenceType: null, snapshotRef: { name: "golden" } }],
    ["from a lookup", { licenceType: null, imageLookup: { name: "ubuntu" } }],
    ["with keys and user data", { ...image, sshKeys: ["ssh-ed25519 AAAA"], userData: "IyEvYmluL3No" }],
    ["with user data from a Secret", { ...image, userDataSecretRef: { name: "init", key: "web" } }],
    ["with keys from a Secret", { ...image, sshKeysFrom: [{ secretKeyRef: { name: "team", key: "keys" } }] }],
    ["only observed, by nothing but its place", { ...observe, size: null, type: null, licenceType: null }],
  ]),
  ...good(snapshot, "Snapshot", [
    ["of a Volume", {}],
    ["of a Server's boot volume", { volumeRef: null, serverRef: { name: "web" } }],
    ["of a volume by id", { volumeRef: null, volumeId: someId, datacenterRef: { name: "berlin" } }],
    ["of a volume by id, in a datacenter by id", { volumeRef: null, volumeId: someId, datacenterId: someId }],
    ["at its longest", { name: long(255), description: long(1024) }],
    ["with a name and a description of many letters", { name: "Größe 🚢", description: "one\n\ttwo\r\n" }],
    ["taken over, of a volume", { externalId: someId }],
    ["taken over, of an unknown volume", { externalId: someId, volumeRef: null }],
    ["only observed, by nothing but its id", { ...observe, volumeRef: null }],
  ]),
  ...good(flowLog, "FlowLog", [
    ["of a NIC", {}],
    ["of a NIC by ids", { serverRef: null, nic: null, serverId: someId, nicId: someId, datacenterId: someId }],
    ["with a prefix", { bucket: "flow-logs/web/2026" }],
    ...each("action", ["Accepted", "Rejected", "Any"]),
    ...each("direction", ["Ingress", "Egress", "Bidirectional"]),
    ["only observed, by nothing but its place", { ...observe, action: null, direction: null, bucket: null }],
  ]),
  ...["networkLoadBalancerId", "applicationLoadBalancerId", "natGatewayId"].flatMap((field) =>
    good(gatewayLog(field, someId), `FlowLog with ${field}`, [
      ["in a Datacenter", {}],
      ["in a datacenter by id", byId],
    ]),
  ),
  ...good(scalingGroup, "ScalingGroup", [
    ["as small as can be", {}],
    ["in a datacenter by id", byId],
    ["as large as can be", { minReplicas: 200, maxReplicas: 200, replica: { cores: 62, ram: 235_520 } }],
    [
      "only observed, by nothing but its place",
      { ...observe, minReplicas: null, maxReplicas: null, policy: null, replica: null },
    ],
    ...[
      "CPU_UTILIZATION_AVERAGE",
      "NETWORK_IN_BYTES",
      "NETWORK_IN_PACKETS",
      "NETWORK_OUT_BYTES",
      "NETWORK_OUT_PACKETS",
    ].map((metric): GoodRow => [`metric ${metric}`, policy({ metric: `INSTANCE_${metric}` })]),
    ...["PERCENTAGE", "PER_HOUR", "PER_MINUTE", "PER_SECOND", "TOTAL"].map(
      (unit): GoodRow => [`unit ${unit}`, policy({ unit })],
    ),
    ...["2m", "PT2M", "120s", "PT24H", "P1D", "P1DT12H30M1S", "1h30m"].map(
      (range): GoodRow => [`range ${range}`, policy({ range })],
    ),
    ...["2m", "PT120S", "24h", "PT24H", "P1D"].map(
      (cooldownPeriod): GoodRow => [`cooldown ${cooldownPeriod}`, policy({ scaleInAction: { cooldownPeriod } })],
    ),
    ["thresholds of any size", policy({ scaleInThreshold: -0.5, scaleOutThreshold: 1e9 })],
    ["the most VMs at once", policy({ scaleOutAction: { amount: 10 } })],
    ["the most percent at once", policy({ scaleOutAction: { amount: 200, amountType: "PERCENTAGE" } })],
    ...["OLDEST_SERVER_FIRST", "NEWEST_SERVER_FIRST", "RANDOM"].map(
      (terminationPolicy): GoodRow => [terminationPolicy, policy({ scaleInAction: { terminationPolicy } })],
    ),
    ...["INTEL_SKYLAKE", "INTEL_XEON", "INTEL_ICELAKE", "INTEL_SIERRAFOREST", "AMD_OPTERON"].map(
      (cpuFamily): GoodRow => [`of ${cpuFamily}`, replica({ cpuFamily })],
    ),
    ...["HDD", "SSD", "SSD Standard", "SSD Premium", "SSD_STANDARD", "SSD_PREMIUM"].map(
      (type): GoodRow => [`volumes of type ${type}`, replica({ volumes: [{ ...root, type }] })],
    ),
    [
      "NICs by number and by Lan, one behind a load balancer",
      replica({
        nics: [
          { name: "a", lan: 1, dhcp: false },
          { name: "b", lanRef: { name: "back" }, targetGroup: { targetGroupId: someId, port: 80, weight: 256 } },
        ],
      }),
    ],
    [
      "16 NICs with the longest firewalls and flow logs",
      replica({
        nics: Array.from({ length: 16 }, (_, n) => ({
          name: `n${n}`,
          lan: 1,
          firewallActive: true,
          firewallType: "BIDIRECTIONAL",
          firewallRules: Array.from({ length: 50 }, (_, rule) => ({ name: `r${rule}`, protocol: "TCP" })),
          flowLogs: [{ name: "a", action: "Rejected", direction: "Egress", bucket: "flow-logs/web" }],
        })),
      }),
    ],
    ["NICs without rules and flow logs", replica({ nics: [{ name: "a", lan: 1, firewallRules: [], flowLogs: [] }] })],
    ["a volume from a Snapshot", volumeOf({ snapshotRef: { name: "golden" } })],
    ["a volume from a lookup", volumeOf({ imageLookup: { name: "debian", cloudInit: "V1" } })],
    [
      "user data and a password in Secrets",
      volumeOf({ imageAlias: "ubuntu:latest", userDataSecretRef: secret, imagePasswordSecretRef: { name: "boot" } }),
    ],
    [
      "8 volumes with keys and user data",
      replica({
        volumes: Array.from({ length: 8 }, (_, n) => ({
          ...root,
          name: `v${n}`,
          sshKeys: ["ssh-ed25519 AAAA"],
          userData: "IyEvYmluL3No",
          bootOrder: "NONE",
          bus: "IDE",
        })),
      }),
    ],
  ]),
];

/** Changes of an object that exists. */
export const goodResourceChanges = [
  ...good(lan, "Lan", [["another name, public, with IPv6", { name: "b", public: true, ipv6: "AUTO" }]]),
  ...good(ipBlock, "IPBlock", [
    ["another name", { name: "b" }],
    ["an output", { output: { configMapName: "b" } }],
  ]),
  ...good(volume, "Volume", [
    ["larger, with another name and bus", { size: 11, name: "b", bus: "IDE" }],
    ["attached", { attachTo: { serverRef: { name: "web" } } }],
    ["kept when deleted", { deletionPolicy: "Retain" }],
  ]),
  ...good({ ...volume, spec: { ...volume.spec, attachTo: { serverRef: { name: "web" } } } }, "Volume of a server", [
    ["attached to another", { attachTo: { serverRef: { name: "other" } } }],
    ["detached", { attachTo: null }],
  ]),
  ...good(snapshot, "Snapshot", [["another name and description", { name: "b", description: "new" }]]),
  ...good(flowLog, "FlowLog", [["kept when deleted", { deletionPolicy: "Retain" }]]),
  ...good(scalingGroup, "ScalingGroup", [
    ["more replicas", { name: "b", minReplicas: 2, maxReplicas: 9 }],
    ["another policy", policy({ range: "10m", scaleOutThreshold: 90, scaleOutAction: { amount: 2 } })],
    ["other replicas", replica({ cores: 2, nics: [{ name: "a", lan: 1 }], volumes: [root] })],
    ["another source and other user data", volumeOf({ imageLookup: { name: "debian" }, userDataSecretRef: secret })],
  ]),
];
