import { z } from "zod";
import { firstBootFields, firstBootRules, publicKey, userDataField } from "../../fields/boot/first-boot.ts";
import { imageFields, oneImageRule } from "../../fields/boot/images.ts";
import { duration } from "../../fields/duration.ts";
import {
  inDatacenter,
  line,
  list,
  managed,
  memory,
  platformName,
  uuid,
  volumeSize,
  whole,
} from "../../fields/fields.ts";
import { firewallFields } from "../../fields/network/firewall.ts";
import { flowLogFields } from "../../fields/network/flow-log.ts";
import { lanFields, lanRule } from "../../fields/network/nic-lan.ts";
import { joined, validations } from "../../fields/rules.ts";
import { outputField } from "../../fields/secrets/output.ts";

const amount = {
  amount: whole(1, 200).describe("Number or percentage of VMs to add or remove: at most 10 VMs, or 200 percent."),
  amountType: z
    .enum(["ABSOLUTE", "PERCENTAGE"])
    .optional()
    .describe(
      "ABSOLUTE is a number of VMs, PERCENTAGE a percentage of the current ones, at least one. Default: ABSOLUTE; on an adopted ScalingGroup, left unchanged.",
    ),
  cooldownPeriod: duration("2m", "24h")
    .optional()
    .describe(
      "Minimum time between two actions, from 2 minutes to 24 hours, as PT5M or 5m. Default: PT5M; on an adopted ScalingGroup, left unchanged.",
    ),
};

const amountRule = {
  rule: "has(self.amountType) && self.amountType == 'PERCENTAGE' || self.amount <= 10",
  message: "amount: at most 10 VMs can be added or removed at once; for more set amountType: PERCENTAGE",
};

const policy = z
  .object({
    metric: z
      .enum([
        "INSTANCE_CPU_UTILIZATION_AVERAGE",
        "INSTANCE_NETWORK_IN_BYTES",
        "INSTANCE_NETWORK_IN_PACKETS",
        "INSTANCE_NETWORK_OUT_BYTES",
        "INSTANCE_NETWORK_OUT_PACKETS",
      ])
      .describe("Metric to scale by."),
    range: duration("2m")
      .optional()
      .describe(
        "Time range of the metric, at least 2 minutes, as PT5M or 5m. Default: PT2M; on an adopted ScalingGroup, left unchanged.",
      ),
    unit: z
      .enum(["PERCENTAGE", "PER_HOUR", "PER_MINUTE", "PER_SECOND", "TOTAL"])
      .describe(
        "Unit of the thresholds: traffic PER_SECOND, PER_MINUTE, PER_HOUR or TOTAL over the range; the CPU is in percent.",
      ),
    scaleInThreshold: z.number().describe("Replicas are removed below this value."),
    scaleOutThreshold: z.number().describe("Replicas are added above this value."),
    scaleInAction: z
      .object({
        ...amount,
        terminationPolicy: z
          .enum(["OLDEST_SERVER_FIRST", "NEWEST_SERVER_FIRST", "RANDOM"])
          .optional()
          .describe(
            "Replicas to remove first. Default: OLDEST_SERVER_FIRST; on an adopted ScalingGroup, left unchanged.",
          ),
        deleteVolumes: z
          .boolean()
          .optional()
          .describe(
            "Volumes of a removed replica are deleted if true. Default: false, they stay and are billed; on an adopted ScalingGroup, left unchanged.",
          ),
      })
      .meta(validations(amountRule))
      .describe("How replicas are removed."),
    scaleOutAction: z.object(amount).meta(validations(amountRule)).describe("How replicas are added."),
  })
  .meta(
    validations(
      joined(
        {
          rule: "self.scaleInThreshold < self.scaleOutThreshold",
          message: "scaleInThreshold must be less than scaleOutThreshold",
        },
        {
          rule: "self.unit != 'TOTAL' || self.scaleOutThreshold >= 40.0",
          message: "scaleOutThreshold must be at least 40 with unit TOTAL",
        },
      ),
    ),
  );

const flowLog = z.object({ name: line(255).describe("Name of the flow log on the platform."), ...flowLogFields });

export const replicaNic = z
  .object({
    name: line(255).describe("Name of the NIC, unique within the replica."),
    ...lanFields,
    dhcp: z
      .boolean()
      .optional()
      .describe("DHCP is used if true. Default: true; on an adopted ScalingGroup, left unchanged."),
    ...firewallFields,
    flowLogs: list(flowLog, { max: 1 })
      .optional()
      .describe("Flow logs of the NIC, at most one. If unset, left unchanged; an empty list removes them."),
    targetGroup: z
      .object({
        targetGroupId: uuid().describe("Platform id of the target group."),
        port: whole(1, 65_535).describe("Port of the replica."),
        weight: whole(0, 256)
          .optional()
          .describe("Weight of the replica. Default: 1; on an adopted ScalingGroup, left unchanged."),
      })
      .optional()
      .describe("Target group of an application load balancer to add the NIC's address to."),
  })
  .meta(validations(lanRule));

export const replicaVolume = z
  .object({
    name: line(255).describe("Name of the volume, unique within the replica."),
    size: volumeSize().describe("Size in GB."),
    type: z
      .enum(["HDD", "SSD", "SSD Standard", "SSD Premium", "SSD_STANDARD", "SSD_PREMIUM"])
      .describe("Storage technology, in either spelling; SSD is SSD Premium."),
    ...imageFields,
    snapshotRef: imageFields.snapshotRef.describe(
      "Snapshot to start from; it cannot be deleted before the group. Excludes the other sources.",
    ),
    imageLookup: imageFields.imageLookup.describe(
      "Finds the image to start from, at creation and when the lookup is changed; if several match, the newest by name. Excludes the other sources.",
    ),
    bootOrder: z
      .enum(["AUTO", "NONE", "PRIMARY"])
      .optional()
      .describe(
        "Use as boot volume: PRIMARY yes, NONE no; AUTO leaves the choice to the platform. Default: AUTO; on an adopted ScalingGroup, left unchanged.",
      ),
    bus: z
      .enum(["VIRTIO", "IDE"])
      .optional()
      .describe("Bus of the volume. Default: VIRTIO; on an adopted ScalingGroup, left unchanged."),
    // A rule for each key would exceed the cost limit of the API server.
    sshKeys: list(
      z.string().min(1).max(4096).regex(publicKey).describe("A public key in the form of authorized_keys."),
      { max: 100 },
    )
      .optional()
      .describe("Public keys for the default user."),
    userData: userDataField("; plain text goes into a Secret, see userDataSecretRef").describe(
      "First-boot configuration, base64: cloud-config, a script, an include file, MIME parts or an Upstart job. Excludes userDataSecretRef.",
    ),
    userDataSecretRef: firstBootFields.userDataSecretRef.describe(
      "A Secret with the first-boot configuration, read whenever the group is written. Excludes userData.",
    ),
    imagePasswordSecretRef: firstBootFields.imagePasswordSecretRef.describe(
      "A Secret with the password of the image's own user, for images without cloud-init, read whenever the group is written.",
    ),
  })
  .meta(validations(joined(oneImageRule(), ...firstBootRules())));

const replica = z.object({
  availabilityZone: z
    .enum(["AUTO", "ZONE_1", "ZONE_2"])
    .optional()
    .describe("Zone of the replicas. If unset, left unchanged; a new group has AUTO."),
  cores: whole(1, 62).describe("Number of cores."),
  ram: memory().describe("Memory in MB, a multiple of 256."),
  cpuFamily: z
    .enum([
      "AMD_EPYC",
      "AMD_TURIN",
      "INTEL_SKYLAKE",
      "INTEL_XEON",
      "INTEL_ICELAKE",
      "INTEL_SIERRAFOREST",
      "AMD_OPTERON",
    ])
    .optional()
    .describe("Processor family. If unset, left unchanged; in a new group, the platform chooses it."),
  nics: list(replicaNic, { max: 16, unique: "name" })
    .optional()
    .describe("Network interfaces of a replica. If unset, left unchanged; an empty list removes them."),
  volumes: list(replicaVolume, { max: 8, unique: "name" })
    .optional()
    .describe("Volumes of a replica. If unset, left unchanged; an empty list removes them."),
});

export const scalingGroupSpec = z.object({
  ...managed,
  ...inDatacenter,
  name: platformName("group"),
  minReplicas: whole(1, 200).optional().describe("Minimum number of replicas, at least 1. Required."),
  maxReplicas: whole(1, 200)
    .optional()
    .describe("Maximum number of replicas; more than 100 is not recommended. Required."),
  policy: policy.optional().describe("When replicas are added and removed. Required."),
  replica: replica.optional().describe("Template of new replicas. Changes do not affect existing replicas. Required."),
  ...outputField,
});

export type ScalingGroupSpec = z.output<typeof scalingGroupSpec>;
export type ReplicaNic = z.output<typeof replicaNic>;
export type ReplicaVolume = z.output<typeof replicaVolume>;
