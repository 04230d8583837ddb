import { z } from "zod";
import { authoritySchema } from "../certificates.ts";
import type { Documents } from "../store/documents.ts";
import { type Life, life } from "./life.ts";

export const sizes = ["XS", "S", "M", "L", "XL"] as const;

const clusterSchema = z.object({
  ...life,
  /** The slug, e.g. `de-txl`. */
  region: z.string(),
  /** The id of its one user. */
  userId: z.string(),
  properties: z.object({
    name: z.string(),
    version: z.string(),
    size: z.enum(sizes),
    connections: z
      .array(z.object({ datacenterId: z.string(), lanId: z.string(), brokerAddresses: z.array(z.string()) }))
      .readonly(),
  }),
});

const topicSchema = z.object({
  ...life,
  clusterId: z.string(),
  /** As sent: what was left out is up to the brokers. */
  properties: z.object({
    name: z.string(),
    replicationFactor: z.number().optional(),
    numberOfPartitions: z.number().optional(),
    logRetention: z.object({ retentionTime: z.number().optional(), segmentBytes: z.number().optional() }).optional(),
  }),
});

const credentialsSchema = authoritySchema.extend({ issuedAt: z.number(), expiresAt: z.number() });

export type Cluster = Readonly<z.infer<typeof clusterSchema>>;
export type Topic = Readonly<z.infer<typeof topicSchema>>;
export type ClusterFields = Omit<Cluster, keyof Life>;
export type TopicFields = Omit<Topic, keyof Life>;

/** The present certificate and key of a cluster's user; times are the platform's. */
export type Credentials = Readonly<z.infer<typeof credentialsSchema>>;

/** Everything that the platform remembers of event streaming. */
export function createStreamingRecords(documents: Documents) {
  return {
    clusters: documents.table("streaming-clusters", clusterSchema),
    topics: documents.table("streaming-topics", topicSchema),
    /** By the cluster's id. */
    authorities: documents.table("streaming-authorities", authoritySchema),
    /** By the cluster's id. */
    credentials: documents.table("streaming-credentials", credentialsSchema),
    /** The ports of real brokers, by the cluster's id: after a restart they are the same, if still free. */
    ports: documents.table("streaming-ports", z.array(z.number()).readonly()),
  };
}

export type StreamingRecords = ReturnType<typeof createStreamingRecords>;

export const topicsOf = ({ streaming: { topics } }: { streaming: StreamingRecords }, clusterId: string): Topic[] =>
  [...topics.values()].filter((topic) => topic.clusterId === clusterId);

/** Whether brokers have to serve it: it was not given up and is not on its way out. */
export const isWanted = ({ state, failure }: Cluster | Topic) =>
  failure === null && (state === "DEPLOYING" || state === "AVAILABLE");
