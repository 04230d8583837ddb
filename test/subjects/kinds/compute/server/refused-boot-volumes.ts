import { bad, long, type Refused, someId } from "../../../manifests.ts";
import { base } from "./bases.ts";

const volume = (fields: object) => ({ bootVolume: fields });

export const refusedBootVolumes: Refused[] = [
  ...bad(base, "Server with a boot volume", [
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
];
