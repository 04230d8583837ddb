import { snapshot, volume } from "./base.ts";
import { bad, long, someId } from "./table.ts";

const image = { licenceType: null, imageAlias: "ubuntu:latest" };

export const badVolumes = [
  ...bad(volume, "Volume", [
    ["no datacenter", { datacenterRef: null }, "exactly one of datacenterRef and datacenterId is required"],
    ["two datacenters", { datacenterId: someId }, "exactly one of datacenterRef and datacenterId is required"],
    ["observed without an id", { managementPolicy: "Observe" }, "managementPolicy Observe needs externalId"],
    ["no size", { size: null }, "size is required"],
    ["0 GB", { size: 0 }, "spec.size", "greater than or equal to 1"],
    ["4,097 GB", { size: 4097 }, "spec.size", "less than or equal to 4096"],
    ["no type", { type: null }, "type is required"],
    ["a Cube's type", { type: "DAS" }, "spec.type", 'supported values: "HDD", "SSD Standard", "SSD Premium"'],
    ["zone 4", { availabilityZone: "ZONE_4" }, "spec.availabilityZone", '"ZONE_3"'],
    ["an unknown bus", { bus: "SCSI" }, "spec.bus", 'supported values: "VIRTIO", "IDE"'],
    ["an unknown licence", { licenceType: "SUSE" }, "spec.licenceType", '"LINUX"'],
    [
      "no content",
      { licenceType: null },
      "one of image, imageAlias, snapshotRef and imageLookup is required or, for an empty volume, licenceType",
    ],
    [
      "two sources",
      { ...image, snapshotRef: { name: "golden" } },
      "image, imageAlias, snapshotRef and imageLookup exclude each other: keep one of them",
    ],
    ["an image that is no id", { image: "ubuntu" }, "spec.image", "must be a UUID"],
    ["an alias without a version", { imageAlias: "ubuntu" }, "spec.imageAlias", "for example ubuntu:latest"],
    ["a lookup of nothing", { imageLookup: {} }, "spec.imageLookup", "imageLookup needs an alias, a name or both"],
    [
      "user data twice",
      { ...image, userData: "IyEvYmluL3No", userDataSecretRef: { name: "init" } },
      "userData and userDataSecretRef exclude each other: remove one of them",
    ],
    ["user data without an image", { userData: "IyEvYmluL3No" }, "userData needs an image with cloud-init"],
    [
      "plain user data",
      { ...image, userData: "#!/bin/sh" },
      "spec.userData",
      "must be base64 without line breaks; plain text goes into a Secret, see userDataSecretRef",
    ],
    ["a private key", { ...image, sshKeys: ["-----BEGIN"] }, "spec.sshKeys[0]", "must be one public key"],
    ["attached to nothing", { attachTo: {} }, "spec.attachTo", "exactly one of serverRef and serverId is required"],
    [
      "attached to two servers",
      { attachTo: { serverRef: { name: "web" }, serverId: someId } },
      "spec.attachTo",
      "exactly one of serverRef and serverId is required",
    ],
    ["attached to an id that is none", { attachTo: { serverId: "web" } }, "spec.attachTo.serverId", "must be a UUID"],
    ["a misspelt field", { attachedTo: {} }, 'unknown field "spec.attachedTo"'],
  ]),
  ...bad(snapshot, "Snapshot", [
    ["no volume", { volumeRef: null }, "exactly one of volumeRef, serverRef and volumeId is required"],
    [
      "two volumes",
      { volumeId: someId, datacenterId: someId },
      "exactly one of volumeRef, serverRef and volumeId is required; only with externalId all may be missing",
    ],
    [
      "two volumes, taken over",
      { volumeId: someId, datacenterId: someId, externalId: someId },
      "exactly one of volumeRef, serverRef and",
    ],
    ["a Volume and a Server", { serverRef: { name: "web" } }, "exactly one of volumeRef, serverRef and volumeId"],
    [
      "a volume by id without a datacenter",
      { volumeRef: null, volumeId: someId },
      "volumeId needs exactly one of datacenterRef and datacenterId",
    ],
    [
      "a datacenter besides its Volume",
      { datacenterRef: { name: "berlin" } },
      "without volumeId remove both, a Volume or Server knows its datacenter",
    ],
    [
      "a datacenter without a volume, taken over",
      { volumeRef: null, datacenterId: someId, externalId: someId },
      "without volumeId remove both",
    ],
    [
      "a volume's id that is none",
      { volumeRef: null, volumeId: "data", datacenterId: someId },
      "spec.volumeId",
      "UUID",
    ],
    ["a Volume of another namespace", { volumeRef: { name: "a/b" } }, "spec.volumeRef.name", "name of an object"],
    ["a description of 1025 characters", { description: long(1025) }, "spec.description", "1024"],
    ["observed without an id", { managementPolicy: "Observe" }, "managementPolicy Observe needs externalId"],
  ]),
];
