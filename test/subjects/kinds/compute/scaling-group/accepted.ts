import { type Accepted, type AcceptedRow, datacenterById, good, observed, someId } from "../../../manifests.ts";
import { base } from "./base.ts";

const policy = (fields: object) => ({ policy: fields });
const replica = (fields: object) => ({ replica: fields });
const root = { name: "root", size: 10, type: "HDD", imageAlias: "ubuntu:latest" };
const secret = { name: "boot", key: "user-data" };
const volumeOf = (source: object) => replica({ volumes: [{ name: "root", size: 10, type: "HDD", ...source }] });

export const accepted: Accepted[] = [
  ...good(base, "ScalingGroup", [
    ["as small as can be", {}],
    ["in a datacenter by id", datacenterById],
    ["as large as can be", { minReplicas: 200, maxReplicas: 200, replica: { cores: 62, ram: 235_520 } }],
    [
      "only observed, by nothing but its place",
      { ...observed, minReplicas: null, maxReplicas: null, policy: null, replica: null },
    ],
    ...[
      "CPU_UTILIZATION_AVERAGE",
      "NETWORK_IN_BYTES",
      "NETWORK_IN_PACKETS",
      "NETWORK_OUT_BYTES",
      "NETWORK_OUT_PACKETS",
    ].map((metric): AcceptedRow => [`metric ${metric}`, policy({ metric: `INSTANCE_${metric}` })]),
    ...["PERCENTAGE", "PER_HOUR", "PER_MINUTE", "PER_SECOND", "TOTAL"].map(
      (unit): AcceptedRow => [`unit ${unit}`, policy({ unit })],
    ),
    ...["2m", "PT2M", "120s", "PT24H", "P1D", "P1DT12H30M1S", "1h30m"].map(
      (range): AcceptedRow => [`range ${range}`, policy({ range })],
    ),
    ...["2m", "PT120S", "24h", "PT24H", "P1D"].map(
      (cooldownPeriod): AcceptedRow => [`cooldown ${cooldownPeriod}`, policy({ scaleInAction: { cooldownPeriod } })],
    ),
    ["thresholds of any size", policy({ scaleInThreshold: -0.5, scaleOutThreshold: 1e9 })],
    ["the most VMs at once", policy({ scaleOutAction: { amount: 10 } })],
    ["the most percent at once", policy({ scaleOutAction: { amount: 200, amountType: "PERCENTAGE" } })],
    ...["OLDEST_SERVER_FIRST", "NEWEST_SERVER_FIRST", "RANDOM"].map(
      (terminationPolicy): AcceptedRow => [terminationPolicy, policy({ scaleInAction: { terminationPolicy } })],
    ),
    ...["INTEL_SKYLAKE", "INTEL_XEON", "INTEL_ICELAKE", "INTEL_SIERRAFOREST", "AMD_OPTERON"].map(
      (cpuFamily): AcceptedRow => [`of ${cpuFamily}`, replica({ cpuFamily })],
    ),
    ...["HDD", "SSD", "SSD Standard", "SSD Premium", "SSD_STANDARD", "SSD_PREMIUM"].map(
      (type): AcceptedRow => [`volumes of type ${type}`, replica({ volumes: [{ ...root, type }] })],
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

export const acceptedChanges: Accepted[] = [
  ...good(base, "ScalingGroup", [
    ["more replicas", { name: "b", minReplicas: 2, maxReplicas: 9 }],
    ["another policy", policy({ range: "10m", scaleOutThreshold: 90, scaleOutAction: { amount: 2 } })],
    ["other replicas", replica({ cores: 2, nics: [{ name: "a", lan: 1 }], volumes: [root] })],
    ["another source and other user data", volumeOf({ imageLookup: { name: "debian" }, userDataSecretRef: secret })],
  ]),
];
