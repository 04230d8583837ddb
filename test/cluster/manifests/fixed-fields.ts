import { type Base, flowLog, gatewayLog, ipBlock, type Json, lan, scalingGroup, snapshot, volume } from "./base.ts";
import { someId } from "./table.ts";

export const otherId = "864c2c89-ea4d-4bf9-9a27-9acfeb436666";
export const by = ({ kind, spec }: Base, change: Json): Base => ({ kind, spec: { ...spec, ...change } });
const byId = (base: Base): Base => by(base, { datacenterRef: undefined, datacenterId: someId });

/** The patch that sets one field, however deep. */
const at = ([first = "", ...rest]: string[], value: unknown): Json => ({
  [first]: rest.length > 0 ? at(rest, value) : value,
});

/** A change of a field that the platform cannot change. */
export const change = (base: Base, field: string, value: unknown, why: string, more: object = {}) => [
  {
    title: `${base.kind}: another ${field}`,
    base,
    patch: { ...at(field.split("."), value), ...more },
    says: [
      `${field} cannot be changed: ${why}; keep it, or set replacePolicy: WhenNeeded, which deletes the ${base.kind} `,
    ],
  },
];

const homeOf = (base: Base, why: string) => [
  ...change(base, "datacenterRef", { name: "other" }, why),
  ...change(byId(base), "datacenterId", otherId, why),
];
const image = by(volume, { licenceType: undefined, imageAlias: "ubuntu:latest" });
const imageOnly = "an image is used at creation only";
const copy = "a snapshot is the copy of one volume";
const copyById = by(snapshot, { volumeRef: undefined, volumeId: someId, datacenterRef: { name: "berlin" } });
const bootCopy = by(snapshot, { volumeRef: undefined, serverRef: { name: "web" } });
const nicById = by(flowLog, {
  serverRef: undefined,
  nic: undefined,
  serverId: someId,
  nicId: someId,
  datacenterId: someId,
});
const never = "the platform cannot change a FlowLog";

/** Refused as they stand, and allowed with replacePolicy: WhenNeeded. */
export const fixedFields = [
  ...homeOf(lan, "a LAN cannot move to another datacenter"),
  ...change(ipBlock, "location", "de/fra", "an IPBlock cannot move"),
  ...change(ipBlock, "size", 2, "the size of an IPBlock is fixed at creation"),
  ...homeOf(volume, "a volume cannot move to another datacenter"),
  ...change(volume, "type", "SSD Premium", "the technology of a volume is fixed at creation"),
  ...change(volume, "availabilityZone", "ZONE_3", "the zone of a volume is fixed at creation"),
  ...change(volume, "licenceType", "LINUX", "the licence of a volume is fixed at creation"),
  ...change(image, "image", someId, imageOnly, { imageAlias: null }),
  ...change(image, "imageAlias", "debian:latest", imageOnly),
  ...change(image, "snapshotRef", { name: "golden" }, imageOnly, { imageAlias: null }),
  ...change(image, "imageLookup", { name: "ubuntu" }, imageOnly, { imageAlias: null }),
  ...change(image, "sshKeys", ["ssh-ed25519 AAAA"], "ssh keys are used at creation only"),
  ...change(
    image,
    "sshKeysFrom",
    [{ secretKeyRef: { name: "team", key: "keys" } }],
    "ssh keys are used at creation only",
  ),
  ...change(image, "userData", "IyEvYmluL3No", "user data is used at creation only"),
  ...change(image, "userDataSecretRef", { name: "init" }, "user data is used at creation only"),
  ...change(image, "imagePasswordSecretRef", { name: "login" }, "the password is used at creation only"),
  ...change(snapshot, "volumeRef", { name: "other" }, copy),
  ...change(bootCopy, "serverRef", { name: "other" }, copy),
  ...change(copyById, "volumeId", otherId, copy),
  ...change(copyById, "datacenterRef", { name: "other" }, copy),
  ...change(byId(copyById), "datacenterId", otherId, copy),
  ...change(flowLog, "serverRef", { name: "other" }, never),
  ...change(flowLog, "nic", "other", never),
  ...change(nicById, "serverId", otherId, never),
  ...change(nicById, "nicId", otherId, never),
  ...["networkLoadBalancerId", "applicationLoadBalancerId", "natGatewayId"].flatMap((field) =>
    change(gatewayLog(field, someId), field, otherId, never),
  ),
  ...homeOf(gatewayLog("natGatewayId", someId), never),
  ...change(flowLog, "name", "other", never),
  ...change(flowLog, "action", "Any", never),
  ...change(flowLog, "direction", "Egress", never),
  ...change(flowLog, "bucket", "other-bucket", never),
  ...homeOf(scalingGroup, "a group cannot move to another datacenter"),
];
