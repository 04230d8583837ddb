import { type Accepted, type AcceptedRow, each, good, long, observed, someId } from "../../../manifests.ts";
import { base, cube, vcpu } from "./bases.ts";

const volume = (fields: object) => ({ bootVolume: fields });
/** Without any field that the platform knows already, except the model. */
const nothing = { cores: null, ram: null, bootVolume: null, nics: null, templateUuid: null };

/** Each model as it stands, every boundary, every value of every enumeration. */
export const accepted: Accepted[] = [
  ...good(base, "Dedicated Core server", [
    ["with boot volume and NIC", {}],
    ["without boot volume and NICs", { bootVolume: null, nics: null }],
    ["taken over, by nothing but its place and its id", { ...nothing, externalId: someId }],
    ["only observed, by nothing but its place and its id", { ...nothing, ...observed }],
    ["the largest", { cores: 62, ram: 235_520 }],
    ["the smallest", { cores: 1, ram: 256, bootVolume: { size: 1 } }],
    ["in a datacenter of another namespace", { datacenterRef: { namespace: "shop" } }],
    ["in a datacenter by id", { datacenterRef: null, datacenterId: someId }],
    ["stopped", { powerState: "Stopped" }],
    ...each("cpuFamily", ["AMD_EPYC", "AMD_TURIN", "INTEL_XEON", "INTEL_SKYLAKE", "INTEL_ICELAKE"]),
    ...each("cpuFamily", ["INTEL_SIERRAFOREST", "AMD_OPTERON"]),
    ...each("availabilityZone", ["AUTO", "ZONE_1", "ZONE_2"]),
    ...["HDD", "SSD Standard", "SSD Premium"].map(
      (type): AcceptedRow => [`a volume of type ${type}`, volume({ type })],
    ),
    ...["VIRTIO", "IDE"].map((bus): AcceptedRow => [`a volume on ${bus}`, volume({ bus })]),
    ...["UNKNOWN", "WINDOWS", "WINDOWS2016", "WINDOWS2019", "WINDOWS2022", "WINDOWS2025", "RHEL", "LINUX", "OTHER"].map(
      (licenceType): AcceptedRow => [`an empty ${licenceType} volume`, volume({ imageAlias: null, licenceType })],
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
        (rest, index): AcceptedRow => [
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
  ...good(vcpu, "vCPU server", [
    ["as small as can be", {}],
    ["the largest", { cores: 60, ram: 235_520 }],
    ["stopped", { powerState: "Stopped" }],
  ]),
  ...good(cube, "Cube", [
    ["as small as can be", {}],
    ["with the type of its volume", volume({ type: "DAS" })],
    ["of a template by name", { templateUuid: null, templateName: "Basic Cube XS" }],
    ["suspended", { powerState: "Suspended" }],
    ["taken over, by nothing but its place, its model and its id", { ...nothing, externalId: someId }],
    ["taken over, by nothing but its place and its id", { ...nothing, type: null, externalId: someId }],
    ["only observed, by nothing but its place and its id", { ...nothing, type: null, ...observed }],
  ]),
];
