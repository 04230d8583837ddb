import { z } from "zod";
import type { Properties } from "../../store/resource.ts";
import {
  checkPorts,
  firewallRuleSchema,
  flowLogSchema,
  imagePassword,
  needsCloudInit,
  port,
  userData,
  weight,
  withDefault,
} from "../fields.ts";
import { mostCores, mostRam } from "../limits.ts";

/** The lookups outside the body that the rules of a replica need. */
export interface ReplicaSurroundings {
  hasTargetGroup(id: string): boolean;
  /** Whether the image or snapshot that a volume names can be had. */
  hasSource(volume: Properties): boolean;
  hasCloudInit(volume: Properties): boolean;
  /** The fault of the bucket of a flow log. */
  bucketFault(bucket: string): string | undefined;
}

const name = z.string().min(1).max(255);

const rule = firewallRuleSchema.superRefine((given, context) =>
  checkPorts(given, (property, message) => context.addIssue({ code: "custom", path: [property], message })),
);

const flowLog = ({ bucketFault }: ReplicaSurroundings) =>
  flowLogSchema.superRefine(({ bucket }, context) => {
    const message = bucketFault(bucket);
    if (message !== undefined) context.addIssue({ code: "custom", path: ["bucket"], message });
  });

const nic = (surroundings: ReplicaSurroundings) =>
  z.object({
    lan: z.int().min(1),
    name,
    dhcp: withDefault(z.boolean(), true),
    firewallActive: z.boolean().nullish(),
    firewallType: z.enum(["INGRESS", "EGRESS", "BIDIRECTIONAL"]).nullish(),
    flowLogs: z.array(flowLog(surroundings)).max(1).nullish(),
    firewallRules: z.array(rule).nullish(),
    targetGroup: z
      .object({
        targetGroupId: z.string().refine(surroundings.hasTargetGroup, "the target group does not exist"),
        port,
        weight,
      })
      .nullish(),
  });

const volume = ({ hasSource, hasCloudInit }: ReplicaSurroundings) =>
  z
    .object({
      name,
      image: z.string().nullish(),
      imageAlias: z.string().nullish(),
      size: z.int().min(1),
      // Both spellings are in use; a read shows the one that was sent.
      type: z.enum(["HDD", "SSD", "SSD_STANDARD", "SSD_PREMIUM", "SSD Standard", "SSD Premium"]),
      sshKeys: z.array(z.string()).nullish(),
      userData: userData.nullish(),
      bus: withDefault(z.enum(["VIRTIO", "IDE"]), "VIRTIO"),
      backupunitId: z.string().nullish(),
      bootOrder: z.enum(["AUTO", "NONE", "PRIMARY"]).nullish(),
      imagePassword: imagePassword.nullish(),
    })
    .superRefine((given, context) => {
      const sources = [given.image ?? null, given.imageAlias ?? null].filter((each) => each !== null);
      const path = [(given.imageAlias ?? null) === null ? "image" : "imageAlias"];
      if (sources.length !== 1) {
        context.addIssue({ code: "custom", path, message: "needs exactly one of image and imageAlias" });
      } else if (!hasSource(given)) {
        context.addIssue({ code: "custom", path, message: "does not exist in the location of the datacenter" });
      } else if ((given.userData ?? null) !== null && !hasCloudInit(given)) {
        context.addIssue({ code: "custom", path: ["userData"], message: needsCloudInit });
      }
    });

const families = [
  "AMD_EPYC",
  "AMD_TURIN",
  "INTEL_SKYLAKE",
  "INTEL_XEON",
  "INTEL_ICELAKE",
  "INTEL_SIERRAFOREST",
  "AMD_OPTERON",
] as const;

/** How the servers of a group are made. */
export const replicaConfigurationSchema = (surroundings: ReplicaSurroundings) =>
  z.object({
    availabilityZone: z.enum(["AUTO", "ZONE_1", "ZONE_2"]).nullish(),
    cores: z.int().min(1).max(mostCores.ENTERPRISE),
    ram: z.int().min(256).max(mostRam).multipleOf(256),
    cpuFamily: z.enum(families).nullish(),
    nics: z.array(nic(surroundings)).nullish(),
    volumes: z.array(volume(surroundings)).nullish(),
  });

export type ReplicaConfiguration = z.infer<ReturnType<typeof replicaConfigurationSchema>>;
