import { z } from "zod";

/** Values that the operator, the gateway and the tools share, and helpers to declare values. */

export const free = (what: string) => z.record(z.string(), z.unknown()).default({}).describe(what);
export const list = (what: string) => z.array(z.unknown()).default([]).describe(what);
export const labels = (what: string) => z.record(z.string(), z.string()).default({}).describe(what);
export const text = (what: string, value = "") => z.string().default(value).describe(what);
export const flag = (what: string, value: boolean) => z.boolean().default(value).describe(what);
export const group = <T extends z.ZodRawShape>(what: string, shape: T) => z.strictObject(shape).describe(what);

const quantity = z.union([z.string(), z.number()]);
export const resources = (what: string, requests: Record<string, string>, limits: Record<string, string>) =>
  group(what, {
    requests: z.record(z.string(), quantity).default(requests).describe("Requested resources."),
    limits: z
      .record(z.string(), quantity)
      .default(limits)
      .describe("Limits. No CPU limit: it would only slow bursts down."),
  });

interface Workload {
  /** The name in a sentence: `the gateway`. */
  what: string;
  command: string;
  /** The default name of its ServiceAccount. */
  account: string;
  /** Termination grace period in seconds: minimum, default, and the reason. */
  grace: { least: number; usual: number; why: string };
}

export const workload = ({ what, command, account, grace }: Workload) => ({
  serviceAccount: group(`ServiceAccount of ${what}.`, {
    create: flag(`Create the ServiceAccount of ${what}. Its rights are created in any case.`, true),
    name: text(`Name of the ServiceAccount. Default: ${account}.`),
    annotations: labels("Annotations of the ServiceAccount."),
  }),
  extraArgs: z
    .array(z.string())
    .default([])
    .describe(`Further flags of ${what}; \`mooring ${command} --help\` lists them.`),
  extraEnv: list("Further environment variables, as in a container."),
  volumes: list("Further volumes of the pods."),
  volumeMounts: list("Where they are mounted in the container."),
  strategy: free("Update strategy of the Deployment. Default: that of Kubernetes."),
  revisionHistoryLimit: z.int().min(0).default(10).describe("Old ReplicaSets that are kept."),
  terminationGracePeriodSeconds: z
    .int()
    .min(grace.least)
    .default(grace.usual)
    .describe(`Grace period of the pods. ${grace.why}`),
  podAnnotations: labels("Annotations of the pods."),
  podLabels: labels("Labels of the pods."),
  nodeSelector: labels("Node selector of the pods."),
  tolerations: list("Tolerations of the pods."),
  affinity: free("Affinity of the pods."),
  topologySpreadConstraints: list("Topology spread of the pods. Default: over nodes and zones where possible."),
  priorityClassName: text("Priority class of the pods."),
  hostAliases: list("Further entries of /etc/hosts in the pods."),
  dnsPolicy: text("DNS policy of the pods. Default: that of Kubernetes."),
  dnsConfig: free("DNS configuration of the pods."),
  livenessProbe: free("Fields of the liveness probe that differ, for example {failureThreshold: 5}."),
  readinessProbe: free("Fields of the readiness probe that differ."),
  podDisruptionBudget: group("PodDisruptionBudget.", {
    create: flag(`Create the PodDisruptionBudget of ${what}.`, true),
    maxUnavailable: z.union([z.int(), z.string()]).default(1).describe("Pods that may be missing at once."),
  }),
});
