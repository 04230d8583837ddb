import { activityLogExport, cube, datacenter, dedicated, volume as storage, vcpu } from "./base.ts";
import { bad, someId } from "./table.ts";

const volume = (fields: object) => ({ bootVolume: fields });

/** Changes of an object that exists. */
export const badChanges = [
  ...bad(activityLogExport, "ActivityLogExport", [
    [
      "another beginning",
      { from: "2026-03-01T00:00:00Z" },
      "from cannot be changed: a started export continues from its last position; create another ActivityLogExport",
    ],
    [
      "other entries",
      { reads: "Exclude" },
      "reads cannot be changed: a started export keeps its selection of entries; create another ActivityLogExport",
    ],
    [
      "another Account",
      { accountRef: { name: "other" } },
      "accountRef cannot be changed: create another ActivityLogExport for the other Account",
    ],
  ]),
  ...bad(datacenter, "Datacenter", [
    [
      "another location",
      { location: "de/fra" },
      "location cannot be changed: a datacenter cannot move; keep it, or set replacePolicy: WhenNeeded, which deletes the Datacenter and creates a new one",
    ],
    [
      "an Account set later",
      { accountRef: { name: "other" } },
      "accountRef cannot be changed: to move the Datacenter to another Account, set deletionPolicy: Retain, delete the object and create it again with externalId",
    ],
  ]),
  ...bad({ ...datacenter, spec: { ...datacenter.spec, accountRef: { name: "main" } } }, "Datacenter of an Account", [
    ["another Account", { accountRef: { name: "other" } }, "accountRef cannot be changed"],
    ["no Account", { accountRef: null }, "accountRef cannot be changed"],
  ]),
  ...bad(dedicated, "Server", [
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
  ...bad(storage, "Volume", [
    ["a smaller size", { size: 9 }, "size can only grow: keep it, or create another Volume with a smaller one"],
    [
      "a smaller size, with replacePolicy",
      { size: 9, replacePolicy: "WhenNeeded" },
      "size can only grow: keep it, or create another Volume with a smaller one",
    ],
    [
      "an externalId set later",
      { externalId: someId },
      "externalId cannot be set or changed while the object has a resource",
    ],
    ["another Account", { accountRef: { name: "other" } }, "accountRef cannot be changed"],
  ]),
];
