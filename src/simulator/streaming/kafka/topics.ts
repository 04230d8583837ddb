import type { Topic } from "../../records/streaming.ts";
import { internalAddress, type Node } from "./settings.ts";

/** The calls that the simulator makes to brokers. */
export interface TopicAdmin {
  /** The number of brokers in the cluster. */
  brokers(): Promise<number>;
  names(): Promise<string[]>;
  /** Creates a topic, unless it exists. Resolves with the reason if the brokers refuse it. */
  create(topic: Topic): Promise<string | undefined>;
  /** Deletes a topic, if it exists. */
  remove(name: string): Promise<void>;
}

const timeoutMs = 10_000;

/** Calls the brokers over their internal listener. Rejects when they do not answer in time. */
export async function withTopicAdmin<T>(nodes: readonly Node[], work: (admin: TopicAdmin) => Promise<T>): Promise<T> {
  // Loaded when the first brokers are started: most simulators have none.
  const { Admin, ProtocolError, findErrorBy } = await import("@platformatic/kafka");
  const admin = new Admin({
    clientId: "platform-simulator",
    bootstrapBrokers: nodes.map(internalAddress),
    connectTimeout: timeoutMs,
    requestTimeout: timeoutMs,
    retries: 0,
  });

  /** The brokers' own error; null: there was no answer. */
  const refusalIn = (error: unknown) =>
    error instanceof Error ? findErrorBy(error, "code", ProtocolError.code) : null;

  const topics: TopicAdmin = {
    brokers: async () => (await admin.metadata({ topics: [], forceUpdate: true })).brokers.size,
    names: () => admin.listTopics(),
    async create({ properties: { name, numberOfPartitions, replicationFactor, logRetention } }) {
      const { retentionTime, segmentBytes } = logRetention ?? {};
      const configs = Object.entries({ "retention.ms": retentionTime, "segment.bytes": segmentBytes })
        .filter(([, value]) => value !== undefined)
        .map(([key, value]) => ({ name: key, value: String(value) }));
      try {
        await admin.createTopics({
          topics: [name],
          // -1 leaves it to the brokers.
          partitions: numberOfPartitions ?? -1,
          replicas: replicationFactor ?? -1,
          configs,
        });
        return undefined;
      } catch (error) {
        const refusal = refusalIn(error);
        if (refusal === null || refusal.canRetry) throw error;
        if (refusal.apiId === "TOPIC_ALREADY_EXISTS") return undefined;
        return String(refusal.serverErrorMessage ?? refusal.message);
      }
    },
    async remove(name) {
      try {
        await admin.deleteTopics({ topics: [name] });
      } catch (error) {
        if (refusalIn(error)?.apiId !== "UNKNOWN_TOPIC_OR_PARTITION") throw error;
      }
    },
  };

  try {
    return await work(topics);
  } finally {
    admin.close().catch(() => {});
  }
}
