import { z } from "zod";
import { withDefault } from "../fields.ts";
import { duration } from "./duration.ts";
import { type ReplicaSurroundings, replicaConfigurationSchema } from "./replica-configuration.ts";

const amountFields = {
  amount: z.number().min(1),
  amountType: z.enum(["ABSOLUTE", "PERCENTAGE"]),
  cooldownPeriod: withDefault(duration("PT2M", "PT24H"), "PT5M"),
};

const mostAmount = { ABSOLUTE: 10, PERCENTAGE: 200 } as const;
const amountFits = ({ amount, amountType }: { amount: number; amountType: keyof typeof mostAmount }) =>
  amount <= mostAmount[amountType];
const amountFault = { path: ["amount"], error: "must be from 1 to 10 when ABSOLUTE, from 1 to 200 when PERCENTAGE" };

const cpu = "INSTANCE_CPU_UTILIZATION_AVERAGE";

export const metrics = [
  cpu,
  "INSTANCE_NETWORK_IN_BYTES",
  "INSTANCE_NETWORK_IN_PACKETS",
  "INSTANCE_NETWORK_OUT_BYTES",
  "INSTANCE_NETWORK_OUT_PACKETS",
] as const;

const policySchema = z
  .object({
    metric: z.enum(metrics),
    range: withDefault(duration("PT2M"), "PT2M"),
    unit: z.enum(["PER_HOUR", "PER_MINUTE", "PER_SECOND", "TOTAL", "PERCENTAGE"]),
    scaleInThreshold: z.number(),
    scaleOutThreshold: z.number(),
    scaleInAction: z
      .object({
        ...amountFields,
        terminationPolicy: withDefault(
          z.enum(["OLDEST_SERVER_FIRST", "NEWEST_SERVER_FIRST", "RANDOM"]),
          "OLDEST_SERVER_FIRST",
        ),
        deleteVolumes: withDefault(z.boolean(), false),
      })
      .refine(amountFits, amountFault),
    scaleOutAction: z.object(amountFields).refine(amountFits, amountFault),
  })
  .refine(({ scaleInThreshold, scaleOutThreshold }) => scaleInThreshold < scaleOutThreshold, {
    path: ["scaleOutThreshold"],
    error: "must be greater than scaleInThreshold",
  })
  .refine(({ unit, scaleOutThreshold }) => unit !== "TOTAL" || scaleOutThreshold >= 40, {
    path: ["scaleOutThreshold"],
    error: "must be at least 40 with the unit TOTAL",
  })
  .refine(({ metric, unit }) => metric === cpu || unit !== "PERCENTAGE", {
    path: ["unit"],
    error: "must not be PERCENTAGE for traffic, which is counted: no number of replicas would ever change",
  })
  .refine(({ metric, scaleOutThreshold }) => metric !== cpu || scaleOutThreshold < 100, {
    path: ["scaleOutThreshold"],
    error: "must be less than 100: the CPU is never used more, and no replica would ever be added",
  });

export type Policy = z.infer<typeof policySchema>;

/** The lookups outside the body that the rules of a group need. */
export interface Surroundings extends ReplicaSurroundings {
  mostReplicas: number;
  hasDatacenter(id: string): boolean;
}

const counts = z.object({
  minReplicaCount: z.int().min(1),
  maxReplicaCount: z.int().min(1),
  targetReplicaCount: z.int().nullish(),
});

/** The rules for the counts also run when another property is wrong, so that both errors are reported. */
const countsAreReadable = ({ value }: { value: unknown }) => counts.safeParse(value).success;

/** The properties of a group as a caller sends them: all of them, at creation and with every PUT. */
export const propertiesSchema = ({ mostReplicas, hasDatacenter, ...surroundings }: Surroundings) =>
  z
    .object({
      ...counts.shape,
      maxReplicaCount: counts.shape.maxReplicaCount.max(mostReplicas),
      datacenter: z.object({ id: z.string().refine(hasDatacenter, "the datacenter does not exist") }),
      name: z.string().min(1).max(255),
      policy: policySchema,
      replicaConfiguration: replicaConfigurationSchema(surroundings),
    })
    .refine(({ minReplicaCount, maxReplicaCount }) => minReplicaCount <= maxReplicaCount, {
      path: ["maxReplicaCount"],
      error: "must not be smaller than minReplicaCount",
      when: countsAreReadable,
    })
    .refine(
      ({ minReplicaCount: min, maxReplicaCount: max, targetReplicaCount: target }) =>
        (target ?? min) >= min && (target ?? max) <= max,
      {
        path: ["targetReplicaCount"],
        error: "must lie between minReplicaCount and maxReplicaCount",
        when: countsAreReadable,
      },
    );

export type GroupProperties = z.infer<ReturnType<typeof propertiesSchema>>;
