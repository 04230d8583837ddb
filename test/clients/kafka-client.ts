import { Admin, Consumer, Producer, stringDeserializers, stringSerializers } from "@platformatic/kafka";

/** The access data that the management API returns to a user. */
export interface KafkaAccess {
  brokers: readonly string[];
  certificateAuthority: string;
  certificate?: string;
  privateKey?: string;
}

/** Options of every client: mutual TLS, with a private CA. */
function optionsFor({ brokers, certificateAuthority, certificate, privateKey }: KafkaAccess) {
  return {
    clientId: "test",
    bootstrapBrokers: [...brokers],
    tls: {
      ca: certificateAuthority,
      ...(certificate !== undefined && { cert: certificate }),
      ...(privateKey !== undefined && { key: privateKey }),
      checkServerIdentity: () => undefined,
    },
  };
}

/** Runs a function with an admin client of the brokers. */
export async function asAdmin<T>(
  access: KafkaAccess,
  work: (admin: Admin) => Promise<T>,
  options: { retries?: number } = {},
): Promise<T> {
  const admin = new Admin({ ...optionsFor(access), ...options });
  try {
    return await work(admin);
  } finally {
    await admin.close();
  }
}

/** Whether the brokers accept the access data. */
export const isAdmitted = (access: KafkaAccess): Promise<boolean> =>
  asAdmin(access, (admin) => admin.metadata({ topics: [], forceUpdate: true }), { retries: 0 }).then(
    () => true,
    () => false,
  );

export interface Message {
  key: string;
  value: string;
}

export async function produce(access: KafkaAccess, topic: string, messages: readonly Message[]): Promise<void> {
  const producer = new Producer({ ...optionsFor(access), serializers: stringSerializers });
  try {
    for (let start = 0; start < messages.length; start += 1000) {
      await producer.send({ messages: messages.slice(start, start + 1000).map((each) => ({ topic, ...each })) });
    }
  } finally {
    await producer.close();
  }
}

/** Reads a topic from its beginning as the only member of a group. */
export async function consume(
  access: KafkaAccess,
  topic: string,
  count: number,
): Promise<(Message & { partition: number })[]> {
  const consumer = new Consumer({ ...optionsFor(access), groupId: "platformatic", deserializers: stringDeserializers });
  try {
    const stream = await consumer.consume({ topics: [topic], mode: "earliest", autocommit: true });
    const seen: (Message & { partition: number })[] = [];
    for await (const { key, value, partition } of stream) {
      seen.push({ key, value, partition });
      if (seen.length === count) break;
    }
    return seen;
  } finally {
    await consumer.close(true);
  }
}
