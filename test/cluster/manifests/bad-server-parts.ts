import { dedicated } from "./base.ts";
import { bad, long, someId } from "./table.ts";

const volume = (fields: object) => ({ bootVolume: fields });
const nic = (fields: object) => ({ nics: [{ name: "public", lan: 1, ...fields }] });

const rule = (fields: object) => nic({ firewallRules: [{ name: "web", protocol: "TCP", ...fields }] });
const inRule = "spec.nics[0].firewallRules[0]";

export const badServerParts = [
  ...bad(dedicated, "Server with a firewall rule", [
    ["without a name", nic({ firewallRules: [{ protocol: "TCP" }] }), `${inRule}.name`, "Required value"],
    ["without a protocol", nic({ firewallRules: [{ name: "web" }] }), `${inRule}.protocol`, "Required value"],
    ["of an unknown protocol", rule({ protocol: "tcp" }), `${inRule}.protocol`, '"TCP"'],
    ["of both directions", rule({ type: "BIDIRECTIONAL" }), `${inRule}.type`, '"EGRESS"'],
    [
      "that has the name of another",
      nic({
        firewallRules: [
          { name: "web", protocol: "TCP" },
          { name: "web", protocol: "UDP" },
        ],
      }),
      "spec.nics[0].firewallRules",
      "name must be unique within the list",
    ],
    [
      "with half a range of ports",
      rule({ portRangeStart: 80 }),
      inRule,
      "portRangeStart and portRangeEnd are needed together",
    ],
    [
      "with a range that ends before it begins",
      rule({ portRangeStart: 80, portRangeEnd: 79 }),
      inRule,
      "portRangeEnd must not be less",
    ],
    [
      "with port 0",
      rule({ portRangeStart: 0, portRangeEnd: 1 }),
      `${inRule}.portRangeStart`,
      "greater than or equal to 1",
    ],
    [
      "with ports of ICMP",
      rule({ protocol: "ICMP", portRangeStart: 1, portRangeEnd: 1 }),
      inRule,
      "are for TCP and UDP only",
    ],
    ["with an ICMP type of TCP", rule({ icmpType: 8 }), inRule, "are for ICMP and ICMPv6 only"],
    [
      "with ICMP code 255",
      rule({ protocol: "ICMP", icmpCode: 255 }),
      `${inRule}.icmpCode`,
      "less than or equal to 254",
    ],
    [
      "with a source by name",
      rule({ sourceIp: "example.com" }),
      `${inRule}.sourceIp`,
      "must be an IP address or a network",
    ],
    [
      "with an address in a network",
      rule({ targetIp: "10.0.1.7/24" }),
      `${inRule}.targetIp`,
      "must be the first address of the network",
    ],
    ["with half a MAC address", rule({ sourceMac: "02:01:0a" }), `${inRule}.sourceMac`, "must be a MAC address"],
    [
      "too many",
      nic({ firewallRules: Array.from({ length: 51 }, (_, n) => ({ name: `r${n}`, protocol: "ANY" })) }),
      "spec.nics[0].firewallRules",
      "must have at most 50 items",
    ],
  ]),
  ...bad(dedicated, "Server with a boot volume", [
    ["without a size", volume({ size: null }), "bootVolume.size is required for ENTERPRISE and VCPU servers"],
    ["of 0 GB", volume({ size: 0 }), "spec.bootVolume.size", "greater than or equal to 1"],
    ["of 4,097 GB", volume({ size: 4097 }), "spec.bootVolume.size", "less than or equal to 4096"],
    ["without a type", volume({ type: null }), "bootVolume.type is required for ENTERPRISE and VCPU servers"],
    ["of an unknown type", volume({ type: "SSD" }), "spec.bootVolume.type", '"SSD Premium"'],
    ["of a Cube's type", volume({ type: "DAS" }), "bootVolume.type DAS is for Cubes"],
    [
      "without content",
      volume({ imageAlias: null }),
      "one of bootVolume.image, bootVolume.imageAlias, bootVolume.snapshotRef and bootVolume.imageLookup is required or, for an empty volume, bootVolume.licenceType",
    ],
    [
      "with two images",
      volume({ image: someId }),
      "bootVolume.snapshotRef and bootVolume.imageLookup exclude each other: keep one of them",
    ],
    [
      "with an image and a snapshot",
      volume({ snapshotRef: { name: "golden" } }),
      "exclude each other: keep one of them",
    ],
    ["with an image and a lookup", volume({ imageLookup: { name: "ubuntu" } }), "exclude each other: keep one of them"],
    [
      "with a snapshot of another namespace",
      volume({ imageAlias: null, snapshotRef: { name: "other/golden" } }),
      "spec.bootVolume.snapshotRef.name",
      "must be the name of an object",
    ],
    [
      "with a lookup that asks for nothing",
      volume({ imageAlias: null, imageLookup: { cloudInit: "V1" } }),
      "spec.bootVolume.imageLookup",
      "imageLookup needs an alias, a name or both",
    ],
    [
      "with a lookup of a CD-ROM",
      volume({ imageAlias: null, imageLookup: { name: "ubuntu", type: "CDROM" } }),
      "spec.bootVolume.imageLookup.type",
      'supported values: "HDD", "UNKNOWN"',
    ],
    [
      "with a lookup in no location",
      volume({ imageAlias: null, imageLookup: { name: "ubuntu", location: "Berlin" } }),
      "spec.bootVolume.imageLookup.location",
      "for example de/txl",
    ],
    [
      "with an image that is no id",
      volume({ image: "ubuntu", imageAlias: null }),
      "spec.bootVolume.image",
      "must be a UUID",
    ],
    [
      "with an alias without a version",
      volume({ imageAlias: "ubuntu" }),
      "spec.bootVolume.imageAlias",
      "for example ubuntu:latest",
    ],
    ["with an empty name", volume({ name: "" }), "spec.bootVolume.name", "at least 1 chars long"],
    ["with plain user data", volume({ userData: "#cloud-config" }), "spec.bootVolume.userData", "must be base64"],
    [
      "with user data of no known form",
      volume({ userData: "aGVsbG8=" }),
      "spec.bootVolume.userData",
      "must be the base64 of a text that begins with #cloud-config, #!, #include, Content-Type:, MIME-Version: or #upstart-job",
    ],
    ["with a misspelt cloud-config", volume({ userData: "I2Nsb3VkLWNvbmZpZg==" }), "begins with #cloud-config"],
    ["with user data cut short", volume({ userData: "aGVsb" }), "spec.bootVolume.userData", "must be base64"],
    ["with user data of 64 KiB and more", volume({ userData: long(65_540) }), "spec.bootVolume.userData", "65536"],
    [
      "with user data twice",
      volume({ userData: "IyEvYmluL3No", userDataSecretRef: { name: "init" } }),
      "bootVolume.userData and bootVolume.userDataSecretRef exclude each other: remove one of them",
    ],
    [
      "with user data for an empty volume",
      volume({ imageAlias: null, licenceType: "LINUX", userData: "IyEvYmluL3No" }),
      "bootVolume.userData needs an image with cloud-init: set image, imageAlias or an imageLookup",
    ],
    [
      "with user data for a snapshot",
      volume({ imageAlias: null, snapshotRef: { name: "golden" }, userDataSecretRef: { name: "init" } }),
      "bootVolume.userData needs an image with cloud-init",
    ],
    [
      "with user data for an image without cloud-init",
      volume({ imageAlias: null, imageLookup: { name: "w", cloudInit: "NONE" }, userData: "IyEvYmluL3No" }),
      "bootVolume.userData needs an image with cloud-init",
      "that does not ask for cloudInit NONE",
    ],
    [
      "with a password for an empty volume",
      volume({ imageAlias: null, licenceType: "LINUX", imagePasswordSecretRef: { name: "login" } }),
      "bootVolume.imagePasswordSecretRef needs an image",
    ],
    [
      "with a password in spec",
      volume({ imagePassword: "abcDEF123" }),
      'unknown field "spec.bootVolume.imagePassword"',
    ],
    [
      "with a Secret without a name",
      volume({ userDataSecretRef: {} }),
      "spec.bootVolume.userDataSecretRef.name",
      "Required value",
    ],
    [
      "with a Secret's key that is none",
      volume({ userDataSecretRef: { name: "init", key: "a/b" } }),
      "spec.bootVolume.userDataSecretRef.key",
      "must be a key of a Secret",
    ],
    [
      "with a private key",
      volume({ sshKeys: ["-----BEGIN OPENSSH PRIVATE KEY-----"] }),
      "spec.bootVolume.sshKeys[0]",
      "must be one public key",
    ],
    [
      "with a key without its type",
      volume({ sshKeys: ["AAAAC3NzaC1lZDI1NTE5 me@example.com"] }),
      "spec.bootVolume.sshKeys[0]",
      "must be one public key on one line",
    ],
    [
      "with two keys in one",
      volume({ sshKeys: ["ssh-ed25519 AAAA\nssh-ed25519 BBBB"] }),
      "spec.bootVolume.sshKeys[0]",
      "on one line",
    ],
    [
      "with a key that is no list",
      volume({ sshKeys: "ssh-ed25519 AAAA" }),
      "spec.bootVolume.sshKeys",
      "must be of type array",
    ],
    [
      "with 101 keys",
      volume({ sshKeys: Array.from({ length: 101 }, () => "ssh-ed25519 AAAA") }),
      "spec.bootVolume.sshKeys",
      "100",
    ],
    [
      "with keys from nowhere",
      volume({ sshKeysFrom: [{}] }),
      "spec.bootVolume.sshKeysFrom[0]",
      "exactly one of secretKeyRef and configMapKeyRef is required",
    ],
    [
      "with keys from a Secret and a ConfigMap at once",
      volume({
        sshKeysFrom: [{ secretKeyRef: { name: "a", key: "b" }, configMapKeyRef: { name: "a", key: "b" } }],
      }),
      "exactly one of secretKeyRef and configMapKeyRef is required",
    ],
    [
      "with keys from no key of a ConfigMap",
      volume({ sshKeysFrom: [{ configMapKeyRef: { name: "admins" } }] }),
      "spec.bootVolume.sshKeysFrom[0].configMapKeyRef.key",
      "Required value",
    ],
    [
      "with a ConfigMap's key that is none",
      volume({ sshKeysFrom: [{ configMapKeyRef: { name: "admins", key: "a/b" } }] }),
      "must be a key of a ConfigMap",
    ],
    ["with an unknown licence", volume({ licenceType: "SUSE" }), "spec.bootVolume.licenceType", '"LINUX"'],
    ["on an unknown bus", volume({ bus: "SCSI" }), "spec.bootVolume.bus", 'supported values: "VIRTIO", "IDE"'],
    ["with an unknown field", volume({ backupunitId: someId }), 'unknown field "spec.bootVolume.backupunitId"'],
  ]),
  ...bad(dedicated, "Server with a NIC", [
    ["without a name", { nics: [{ lan: 1 }] }, "spec.nics[0].name", "Required value"],
    ["with an empty name", nic({ name: "" }), "spec.nics[0].name", "at least 1 chars long"],
    ["without a LAN", { nics: [{ name: "public" }] }, "spec.nics[0]", "exactly one of lan and lanRef is required"],
    ["in two LANs", nic({ lanRef: { name: "front" } }), "spec.nics[0]", "exactly one of lan and lanRef is required"],
    ["in LAN 0", nic({ lan: 0 }), "spec.nics[0].lan", "greater than or equal to 1"],
    ["in a LAN by name", nic({ lan: "private" }), "spec.nics[0].lan", "must be of type integer"],
    [
      "named twice",
      {
        nics: [
          { name: "public", lan: 1 },
          { name: "public", lan: 2 },
        ],
      },
      "spec.nics",
      "name must be unique",
    ],
    ["with an address that is none", nic({ ips: ["10.0.0.256"] }), "spec.nics[0].ips[0]", "must be an IPv4 address"],
    ["with a network", nic({ ips: ["10.0.0.0/24"] }), "spec.nics[0].ips[0]", "must be an IPv4 address"],
    ["with an IPv6 address", nic({ ips: ["2001:db8:0:1:1:1:1:1"] }), "spec.nics[0].ips[0]", "must be an IPv4 address"],
    [
      "with an address given twice",
      nic({ ips: ["10.0.0.1", "10.0.0.1"] }),
      "spec.nics[0].ips",
      "must not contain duplicates",
    ],
    [
      "with an address of no IPBlock",
      nic({ ipsFrom: [{ index: 0 }] }),
      "spec.nics[0].ipsFrom[0].ipBlockRef",
      "Required value",
    ],
    [
      "with the address before the first",
      nic({ ipsFrom: [{ ipBlockRef: { name: "web" }, index: -1 }] }),
      "spec.nics[0].ipsFrom[0].index",
      "greater than or equal to 0",
    ],
    [
      "with addresses of 33 IPBlocks",
      nic({ ipsFrom: Array.from({ length: 33 }, (_, index) => ({ ipBlockRef: { name: "web" }, index })) }),
      "spec.nics[0].ipsFrom",
      "32",
    ],
    ["with dhcp as text", nic({ dhcp: "yes" }), "spec.nics[0].dhcp", "must be of type boolean"],
    [
      "with an IPv4 address for IPv6",
      nic({ ipv6Ips: ["10.0.0.1"] }),
      "spec.nics[0].ipv6Ips[0]",
      "must be an IPv6 address, for example 2001:db8::7",
    ],
    [
      "with the IPv6 block of a LAN",
      nic({ ipv6CidrBlock: "2001:db8:0:1::/64" }),
      "spec.nics[0].ipv6CidrBlock",
      "must be a /80 block",
    ],
    [
      "with an IPv6 address outside of its block",
      nic({ ipv6CidrBlock: "2001:db8:0:1:2::/80", ipv6Ips: ["2001:db8:0:1:3::7"] }),
      "spec.nics[0]",
      "ipv6Ips must lie in ipv6CidrBlock",
    ],
    [
      "with the same IPv6 address twice",
      nic({ ipv6Ips: ["2001:db8::7", "2001:db8::7"] }),
      "spec.nics[0].ipv6Ips",
      "must not contain duplicates",
    ],
    ["with an unknown firewall type", nic({ firewallType: "Ingress" }), "spec.nics[0].firewallType", '"INGRESS"'],
    ["that is no list", { nics: "public" }, "spec.nics", "must be of type array"],
    [
      "and 64 more",
      { nics: Array.from({ length: 65 }, (_, lan) => ({ name: `n${lan}`, lan: lan + 1 })) },
      "spec.nics",
      "64",
    ],
    ["with an unknown field", nic({ mac: "02:01:00:00:00:01" }), 'unknown field "spec.nics[0].mac"'],
  ]),
];
