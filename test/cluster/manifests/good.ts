import {
  account,
  activityLogExport,
  clusterAccount,
  cube,
  datacenter,
  dedicated,
  grant,
  inferenceAccess,
  vcpu,
} from "./base.ts";
import { each, long, good as of, type GoodRow as Row, someId } from "./table.ts";

const volume = (fields: object) => ({ bootVolume: fields });

/** What must be accepted: each model as it stands, every boundary, every value of every enumeration. */
export const good = [
  ...of(account, "Account", [
    ["as small as can be", { endpoints: null }],
    ...each("tokenLifetime", ["1h", "365d"]),
    ...each("callsPerSecond", [1, 1000]),
    ["one endpoint, the others being the operator's", { endpoints: { api: null, dns: "https://dns.example.com" } }],
    ["an endpoint with a port and a slash", { endpoints: { api: "http://127.0.0.1:8080/" } }],
    ["a contract and another key", { contractNumber: 9_999_999_999, credentialsSecretRef: { key: "bearer.token" } }],
    [
      "every endpoint, regional ones with {region}",
      {
        region: "de/fra/2",
        endpoints: {
          monitoring: "https://monitoring.{region}.example.com",
          logging: "https://example.com/logging/{region}",
          streaming: "https://kafka.{region}.example.com",
          inference: "https://ai.example.com",
          objectStorage: "https://s3.{region}.example.com",
          dns: "https://dns.example.com",
          certificates: "https://certificates.example.com/v2",
        },
      },
    ],
  ]),
  ...of(clusterAccount, "ClusterAccount", [
    ["with everything", {}],
    [
      "as small as can be",
      { region: null, namespaces: null, kinds: null, default: null, adoption: null, inferenceBudget: null },
    ],
    ["for all namespaces", { namespaces: { names: null, selector: { matchLabels: null, matchExpressions: null } } }],
  ]),
  ...of(grant, "Grant", [
    ["with everything", {}],
    ["of all objects of a kind, to all namespaces", { namespaces: { names: null, selector: {} }, names: null }],
  ]),
  ...of(inferenceAccess, "InferenceAccess", [
    ["with everything", {}],
    ["without a budget, through an Account", { budget: null, accountRef: { kind: "Account", name: "main" } }],
    ["for the gateway only", { secretName: null, lifetime: null }],
    ["as small as can be", { budget: null, accountRef: null, secretName: null, lifetime: null }],
    ["with a budget that says nothing", { budget: { eurPerDay: null, tokensPerCall: null } }],
    ["with nothing to spend", { budget: { eurPerDay: 0 } }],
  ]),
  ...of(activityLogExport, "ActivityLogExport", [
    ["to a bucket", {}],
    ["to a bucket of the Account", { destination: { bucket: { endpoint: null, prefix: null } } }],
    ["with everything", { from: "2026-03-01T00:00:00Z", destination: { bucket: { region: "eu-central-3" } } }],
    ["to a LogPipeline", { destination: { bucket: null, logPipelineRef: { name: "logs", namespace: "other" } } }],
    [
      "to a KafkaTopic",
      { destination: { bucket: null, kafkaTopicRef: { name: "audit" }, kafkaUserRef: { name: "admin" } } },
    ],
  ]),
  ...of(datacenter, "Datacenter", [
    ["as small as can be", {}],
    ["through a ClusterAccount", { accountRef: { kind: "ClusterAccount", name: "shared" } }],
    ["a location of three parts", { location: "de/fra/2" }],
    ["everything at its longest", { name: long(255), description: long(1024) }],
    ["kept when deleted, in a named Account", { deletionPolicy: "Retain", accountRef: { name: "main" } }],
  ]),
  ...of(dedicated, "Dedicated Core server", [
    ["with boot volume and NIC", {}],
    ["without boot volume and NICs", { bootVolume: null, nics: null }],
    ["the largest", { cores: 62, ram: 235_520 }],
    ["the smallest", { cores: 1, ram: 256, bootVolume: { size: 1 } }],
    ["in a datacenter of another namespace", { datacenterRef: { namespace: "shop" } }],
    ["in a datacenter by id", { datacenterRef: null, datacenterId: someId }],
    ["stopped", { powerState: "Stopped" }],
    ...each("cpuFamily", ["AMD_EPYC", "AMD_TURIN", "INTEL_XEON", "INTEL_SKYLAKE", "INTEL_ICELAKE"]),
    ...each("cpuFamily", ["INTEL_SIERRAFOREST", "AMD_OPTERON"]),
    ...each("availabilityZone", ["AUTO", "ZONE_1", "ZONE_2"]),
    ...["HDD", "SSD Standard", "SSD Premium"].map((type): Row => [`a volume of type ${type}`, volume({ type })]),
    ...["VIRTIO", "IDE"].map((bus): Row => [`a volume on ${bus}`, volume({ bus })]),
    ...["UNKNOWN", "WINDOWS", "WINDOWS2016", "WINDOWS2019", "WINDOWS2022", "WINDOWS2025", "RHEL", "LINUX", "OTHER"].map(
      (licenceType): Row => [`an empty ${licenceType} volume`, volume({ imageAlias: null, licenceType })],
    ),
    ["an image by id", volume({ image: someId, imageAlias: null })],
    ["a snapshot", volume({ snapshotRef: { name: "golden" }, imageAlias: null })],
    ["a lookup by alias", volume({ imageLookup: { alias: "ubuntu:latest" }, imageAlias: null })],
    [
      "a lookup by everything",
      volume({
        imageLookup: { alias: "debian:12", name: "debian", type: "UNKNOWN", cloudInit: "NONE", location: "de/fra/2" },
        imageAlias: null,
      }),
    ],
    [
      "user data for an image that is looked up",
      volume({ imageLookup: { name: "ubuntu" }, imageAlias: null, userData: "IyEvYmluL3No" }),
    ],
    ...["#cloud-config", "#!", "#include", "Content-Type:", "MIME-Version:", "#upstart-job"].flatMap((beginning) =>
      ["", "\n", "\u00ff~", " text/x-shellscript"].map(
        (rest, index): Row => [
          `user data ${index} that begins with ${beginning}`,
          volume({ userData: Buffer.from(beginning + rest).toString("base64") }),
        ],
      ),
    ),
    ["user data at its longest", volume({ userData: Buffer.from(`#!${long(49_150)}`).toString("base64") })],
    ["user data from a Secret", volume({ userDataSecretRef: { name: "init" } })],
    ["a password from a Secret", volume({ imagePasswordSecretRef: { name: "login", key: "root" } })],
    ["a Volume to boot from", { bootVolume: null, bootVolumeRef: { name: "os" } }],
    ["a host name", { hostname: `1${"a-".repeat(31)}` }],
    ["ssh keys", volume({ sshKeys: ["ssh-ed25519 AAAA me@example.com", 'from="10.0.0.0/8" ssh-rsa AAAA'] })],
    [
      "ssh keys from Secrets and ConfigMaps",
      volume({
        sshKeysFrom: [
          { secretKeyRef: { name: "team", key: "keys" } },
          { configMapKeyRef: { name: "admins", key: "authorized_keys" } },
        ],
      }),
    ],
    ["64 NICs", { nics: Array.from({ length: 64 }, (_, lan) => ({ name: `n${lan}`, lan: lan + 1 })) }],
    ["a NIC with addresses", { nics: [{ name: "n", lan: 1, dhcp: false, ips: ["203.0.113.7", "10.0.0.1"] }] }],
    [
      "a NIC of a Lan, with addresses of IPBlocks",
      {
        nics: [
          {
            name: "n",
            lanRef: { name: "front" },
            ips: ["10.0.0.1"],
            ipsFrom: [{ ipBlockRef: { name: "web" } }, { ipBlockRef: { name: "web" }, index: 9999 }],
          },
        ],
      },
    ],
    ["a NIC whose addresses the platform gives", { nics: [{ name: "n", lan: 1_000_000, ips: [] }] }],
    [
      "a NIC with IPv6",
      {
        nics: [
          { name: "n", lan: 1, dhcpv6: false, ipv6CidrBlock: "2001:db8:0:1:2::/80", ipv6Ips: ["2001:DB8:0:1:2::7"] },
          { name: "any", lan: 1, ipv6Ips: Array.from({ length: 50 }, (_, n) => `2001:db8:0:1:3::${n}`) },
        ],
      },
    ],
    [
      "a firewall with rules",
      {
        nics: [
          {
            name: "n",
            lan: 1,
            firewallActive: true,
            firewallType: "BIDIRECTIONAL",
            firewallRules: [
              { name: "web", protocol: "TCP", portRangeStart: 80, portRangeEnd: 443 },
              {
                name: "one",
                protocol: "UDP",
                sourceIp: "10.0.0.7",
                targetIp: "10.0.0.0/24",
                sourceMac: "02:01:0A:00:00:01",
              },
              { name: "ping", protocol: "ICMP", icmpType: 8, icmpCode: 0 },
              { name: "out", protocol: "ANY", type: "EGRESS", ipVersion: "IPv6", targetIp: "2001:db8::/32" },
            ],
          },
        ],
      },
    ],
    [
      "64 NICs with 50 rules each",
      {
        nics: Array.from({ length: 64 }, (_, lan) => ({
          name: `n${lan}`,
          lan: lan + 1,
          firewallRules: Array.from({ length: 50 }, (_, rule) => ({ name: `r${rule}`, protocol: "ANY" })),
        })),
      },
    ],
  ]),
  ...of(vcpu, "vCPU server", [
    ["as small as can be", {}],
    ["the largest", { cores: 60, ram: 235_520 }],
    ["stopped", { powerState: "Stopped" }],
  ]),
  ...of(cube, "Cube", [
    ["as small as can be", {}],
    ["with the type of its volume", volume({ type: "DAS" })],
    ["of a template by name", { templateUuid: null, templateName: "Basic Cube XS" }],
    ["suspended", { powerState: "Suspended" }],
  ]),
];

/** Changes of an object that exists. */
export const goodChanges = [
  ...of(datacenter, "Datacenter", [["another name and description", { name: "b", description: "new" }]]),
  ...of(dedicated, "Server", [
    ["another host name", { hostname: "web-1" }],
    ["another size", { cores: 62, ram: 16_384, cpuFamily: "INTEL_ICELAKE" }],
    ["a larger boot volume with another name and bus", volume({ size: 21, name: "os", bus: "IDE" })],
    ["another LAN and address", { nics: [{ name: "public", lan: 2, ips: ["10.0.0.1"], firewallActive: true }] }],
    [
      "a NIC added",
      {
        nics: [
          { name: "public", lan: 1 },
          { name: "private", lan: 2 },
        ],
      },
    ],
    ["a NIC renamed", { nics: [{ name: "other", lan: 1 }] }],
    ["a NIC moved into a Lan", { nics: [{ name: "public", lanRef: { name: "front" } }] }],
    ["its NICs removed", { nics: [] }],
    ["its NICs left alone from now on", { nics: null }],
    ["stopped", { powerState: "Stopped" }],
    ["kept when deleted", { deletionPolicy: "Retain" }],
  ]),
  ...of(vcpu, "vCPU server", [["a first NIC", { nics: [{ name: "public", lan: 1 }] }]]),
  ...of(cube, "Cube", [["suspended and renamed", { powerState: "Suspended", name: "b" }]]),
  ...of(account, "Account", [["another endpoint", { endpoints: { api: "https://other.example.com" } }]]),
];
