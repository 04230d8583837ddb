import {
  bad,
  by,
  datacenterById,
  each,
  fixedField,
  fixedParent,
  good,
  observed,
  otherId,
  someId,
} from "../../manifests.ts";
import { replaced, type Subject } from "../../subject.ts";
import { home, host, hostRef, inDatacenter, inPlace } from "../../surroundings.ts";

const empty = { size: 10, type: "HDD", licenceType: "OTHER" };
const spec = { ...inDatacenter, ...empty };
const base = { kind: "Volume", spec };
const grown = { spec: { size: 20 }, shows: { size: 20 } };
const faster = { spec: { type: "SSD Standard" }, shows: { type: "SSD Standard" } };

const image = { licenceType: null, imageAlias: "ubuntu:latest" };
const fromImage = by(base, { licenceType: undefined, imageAlias: "ubuntu:latest" });
const fromLookup = by(base, { licenceType: undefined, imageLookup: { name: "Ubuntu", type: "HDD" } });
const imageOnly = "an image is used at creation only";
const attached = by(base, { attachTo: { serverRef: { name: "web" } } });

export const subject: Subject = {
  ...base,
  wire: {
    collection: "volumes",
    path: inPlace("volumes"),
    body: (name) => ({ properties: { name, ...empty } }),
  },
  place: () => inDatacenter,
  change: () => grown,
  fixedChange: faster,
  needs: ({ nth }) => [home, host(nth), host(nth + 1)],
  life: ({ nth }) => {
    const larger = { ...spec, ...grown.spec };
    const carried = { ...larger, attachTo: hostRef(nth + 1) };
    return {
      changes: [
        { title: "update", spec: larger, shows: grown.shows },
        { title: "attach", spec: { ...larger, attachTo: hostRef(nth) } },
        { title: "move", spec: carried },
        replaced(carried, faster),
        { title: "detach", spec: replaced(larger, faster).spec, shows: { deviceNumber: null } },
      ],
    };
  },
  manifests: {
    accepted: [
      ...good(base, "Volume", [
        ["empty", {}],
        ["in a datacenter by id", datacenterById],
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
        ["only observed, by nothing but its place", { ...observed, size: null, type: null, licenceType: null }],
      ]),
    ],
    refused: [
      ...bad(base, "Volume", [
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
        [
          "attached to an id that is none",
          { attachTo: { serverId: "web" } },
          "spec.attachTo.serverId",
          "must be a UUID",
        ],
        ["a misspelt field", { attachedTo: {} }, 'unknown field "spec.attachedTo"'],
      ]),
    ],
    changes: {
      accepted: [
        ...good(base, "Volume", [
          ["larger, with another name and bus", { size: 11, name: "b", bus: "IDE" }],
          ["attached", { attachTo: { serverRef: { name: "web" } } }],
          ["kept when deleted", { deletionPolicy: "Retain" }],
        ]),
        ...good(fromLookup, "Volume from a lookup", [["in another case", { imageLookup: { name: "ubuntu" } }]]),
        ...good(attached, "Volume of a server", [
          ["attached to another", { attachTo: { serverRef: { name: "other" } } }],
          ["detached", { attachTo: null }],
        ]),
      ],
      refused: [
        ...bad(base, "Volume", [
          ["a smaller size", { size: 9 }, "size can only grow: keep it, or create another Volume with a smaller one"],
          [
            "a smaller size, with replacePolicy",
            { size: 9, replacePolicy: "WhenNeeded" },
            "size can only grow: keep it, or create another Volume with a smaller one",
          ],
          [
            "an externalId set later",
            { externalId: otherId },
            "externalId cannot be set or changed while the object has a resource",
          ],
          ["another Account", { accountRef: { name: "other" } }, "accountRef cannot be changed"],
        ]),
      ],
      fixed: [
        ...fixedParent(base, "datacenter", "a volume cannot move to another datacenter"),
        fixedField(base, "type", "SSD Premium", "the technology of a volume is fixed at creation"),
        fixedField(base, "availabilityZone", "ZONE_3", "the zone of a volume is fixed at creation"),
        fixedField(base, "licenceType", "LINUX", "the licence of a volume is fixed at creation"),
        fixedField(fromImage, "image", someId, imageOnly, { imageAlias: null }),
        fixedField(fromImage, "imageAlias", "debian:latest", imageOnly),
        fixedField(fromImage, "snapshotRef", { name: "golden" }, imageOnly, { imageAlias: null }),
        fixedField(fromImage, "imageLookup", { name: "ubuntu" }, imageOnly, { imageAlias: null }),
        fixedField(fromImage, "sshKeys", ["ssh-ed25519 AAAA"], "ssh keys are used at creation only"),
        fixedField(
          fromImage,
          "sshKeysFrom",
          [{ secretKeyRef: { name: "team", key: "keys" } }],
          "ssh keys are used at creation only",
        ),
        fixedField(fromImage, "userData", "IyEvYmluL3No", "user data is used at creation only"),
        fixedField(fromImage, "userDataSecretRef", { name: "init" }, "user data is used at creation only"),
        fixedField(fromImage, "imagePasswordSecretRef", { name: "login" }, "the password is used at creation only"),
      ],
    },
  },
};
