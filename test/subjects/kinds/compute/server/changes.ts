import { type Accepted, bad, good, type Refused, someId } from "../../../manifests.ts";
import { base, cube, namedCube, vcpu } from "./bases.ts";

const volume = (fields: object) => ({ bootVolume: fields });

export const acceptedChanges: Accepted[] = [
  ...good(base, "Server", [
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
  ...good(vcpu, "vCPU server", [["a first NIC", { nics: [{ name: "public", lan: 1 }] }]]),
  ...good(cube, "Cube", [["suspended and renamed", { powerState: "Suspended", name: "b" }]]),
  ...good(namedCube, "Cube by names", [
    ["its template in another case", { templateName: "Basic Cube XS" }],
    ["its image in another case", volume({ imageLookup: { name: "ubuntu-24" } })],
    [
      "both, and renamed",
      { name: "b", templateName: "BASIC CUBE XS", ...volume({ imageLookup: { name: "ubuntu-24" } }) },
    ],
  ]),
];

export const refusedChanges: Refused[] = [
  ...bad(base, "Server", [
    [
      "another datacenter",
      { datacenterRef: { name: "other" } },
      "datacenterRef cannot be changed: a server cannot move to another datacenter",
    ],
    ["the datacenter by id", { datacenterRef: null, datacenterId: someId }, "datacenterId cannot be changed"],
    [
      "another model",
      { type: "VCPU" },
      "type cannot be changed: the model of a server is fixed at creation; keep it, or set replacePolicy: WhenNeeded, which deletes the Server with its data and creates a new one",
    ],
    [
      "another zone",
      { availabilityZone: "ZONE_2" },
      "availabilityZone cannot be changed: the zone of a server is fixed",
    ],
    ["another Account", { accountRef: { name: "other" } }, "accountRef cannot be changed"],
    ["a smaller boot volume", volume({ size: 9 }), "bootVolume.size can only grow: keep it"],
    ["another storage technology", volume({ type: "HDD" }), "bootVolume.type cannot be changed"],
    [
      "another image",
      volume({ imageAlias: "debian:latest" }),
      "bootVolume.imageAlias cannot be changed: an image is used at creation only",
    ],
    ["the image by id", volume({ image: someId, imageAlias: null }), "bootVolume.image cannot be changed"],
    [
      "a snapshot instead",
      volume({ snapshotRef: { name: "golden" }, imageAlias: null }),
      "bootVolume.snapshotRef cannot be changed: an image is used at creation only",
    ],
    [
      "the image by a lookup",
      volume({ imageLookup: { name: "debian" }, imageAlias: null }),
      "bootVolume.imageLookup cannot be changed",
    ],
    [
      "keys added later",
      volume({ sshKeys: ["ssh-ed25519 AAAA"] }),
      "bootVolume.sshKeys cannot be changed: ssh keys are used at creation only",
    ],
    [
      "keys from a ConfigMap later",
      volume({ sshKeysFrom: [{ configMapKeyRef: { name: "admins", key: "keys" } }] }),
      "bootVolume.sshKeysFrom cannot be changed: ssh keys are used at creation only",
    ],
    [
      "user data added later",
      volume({ userData: "IyEvYmluL3No" }),
      "bootVolume.userData cannot be changed: user data is used at creation only",
    ],
    [
      "user data from a Secret later",
      volume({ userDataSecretRef: { name: "init" } }),
      "bootVolume.userDataSecretRef cannot be changed",
    ],
    [
      "a password later",
      volume({ imagePasswordSecretRef: { name: "login" } }),
      "bootVolume.imagePasswordSecretRef cannot be changed",
    ],
    ["a licence added later", volume({ licenceType: "LINUX" }), "bootVolume.licenceType cannot be changed"],
    ["no boot volume any more", { bootVolume: null }, "bootVolume cannot be added or removed while the server exists"],
  ]),
  ...bad(vcpu, "vCPU server", [
    [
      "a boot volume added",
      volume({ size: 10, type: "HDD", imageAlias: "ubuntu:latest" }),
      "bootVolume cannot be added or removed while the server exists",
    ],
  ]),
  ...bad(cube, "Cube", [
    [
      "another template",
      { templateUuid: "864c2c89-ea4d-4bf9-9a27-9acfeb436666" },
      "templateUuid cannot be changed: the size of a Cube is fixed at creation",
    ],
    [
      "a template by name",
      { templateUuid: null, templateName: "Basic Cube S" },
      "templateName cannot be changed: the size of a Cube is fixed at creation",
    ],
    [
      "a Dedicated Core server instead",
      { type: "ENTERPRISE", templateUuid: null, cores: 1, ram: 2048, ...volume({ size: 10, type: "HDD" }) },
      "type cannot be changed",
    ],
  ]),
  ...bad(namedCube, "Cube by names", [
    ["another template", { templateName: "Basic Cube S" }, "templateName cannot be changed"],
    ["the template by id", { templateName: null, templateUuid: someId }, "templateName cannot be changed"],
    ["another image", volume({ imageLookup: { name: "ubuntu-22" } }), "bootVolume.imageLookup cannot be changed"],
    [
      "its image in another case and place",
      volume({ imageLookup: { name: "ubuntu-24", location: "de/fra" } }),
      "bootVolume.imageLookup cannot be changed",
    ],
    [
      "the image by an alias",
      volume({ imageLookup: { name: null, alias: "ubuntu:latest" } }),
      "bootVolume.imageLookup cannot be changed",
    ],
  ]),
];
