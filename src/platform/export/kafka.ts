import { yieldWorker } from "../../runtime/workers.ts";
import { type PlatformError, Retry, Terminal } from "../answers/errors.ts";
import { plainText } from "../answers/plain-text.ts";
import type { Destination } from "./destination.ts";
import { keyRedactor, withoutKeys } from "./keys.ts";

export interface KafkaPlace {
  /** host:port */
  brokers: readonly string[];
  topic: string;
  ca: string;
  certificate: string;
  privateKey: string;
  /** Whether a connection to this address may be opened. */
  isAllowed(url: string): boolean;
}

const PATIENCE_MS = 10_000;
const PART = 1_000;

/**
 * One record per entry, with the entry's id as its key, so that consumers can recognize repeated entries. Within one delivery
 * the producer is idempotent. A connection lasts for one delivery.
 */
export function toKafka(place: KafkaPlace, guard: () => void): Destination {
  const { brokers, topic, ca, certificate, privateKey } = place;
  const to: Destination = {
    most: PART,
    async deliver({ lines }) {
      requireAllowed(place, brokers);
      // Loaded on the first delivery, because most operators have none.
      const { Producer, stringSerializers } = await import("@platformatic/kafka");
      const resumeWorker = yieldWorker();
      const producer = new Producer({
        clientId: "mooring",
        bootstrapBrokers: [...brokers],
        // Brokers have addresses and no names, so names are not checked. They are identified by the CA, which only this Kafka
        // cluster uses.
        tls: { ca, cert: certificate, key: privateKey, checkServerIdentity: () => undefined },
        connectTimeout: PATIENCE_MS,
        requestTimeout: PATIENCE_MS,
        retries: 2,
        idempotent: true,
        acks: -1,
        serializers: stringSerializers,
      });
      try {
        const known = await producer.metadata({ topics: [topic] });
        requireAllowed(
          place,
          [...known.brokers.values()].map(({ host, port }) => `${host}:${port}`),
        );
        for (let at = 0; at < lines.length; at += PART) {
          guard();
          const part = lines.slice(at, at + PART);
          await producer.send({ messages: part.map(({ id, text }) => ({ topic, key: id, value: text })) });
        }
      } catch (error) {
        throw await asPlatformError(error, place);
      } finally {
        resumeWorker();
        await producer.close().catch(() => {});
      }
    },
  };
  return withoutKeys(to, [privateKey], guard);
}

function requireAllowed({ isAllowed, topic }: KafkaPlace, brokers: readonly string[]): void {
  const refused = brokers.find((broker) => !isAllowed(`https://${broker}`));
  if (refused === undefined) return;
  const detail = `the broker ${refused} is not allowed here: ask the administrator to allow https://${refused} (--allow-endpoint)`;
  throw new Terminal({ call: `PRODUCE ${topic}`, status: 0, detail });
}

async function asPlatformError(error: unknown, { topic, privateKey }: KafkaPlace): Promise<unknown> {
  const { GenericError, ProtocolError, findErrorBy } = await import("@platformatic/kafka");
  if (!(error instanceof GenericError || error instanceof AggregateError)) return error;
  const call = `PRODUCE ${topic}`;
  const refusal = findErrorBy(error, "code", ProtocolError.code);
  const why = refusal ? String(refusal.apiId ?? refusal.message) : "the brokers do not answer";
  const detail = keyRedactor([privateKey])(plainText(why));
  const failed: PlatformError =
    refusal && !refusal.canRetry
      ? new Terminal({ call, status: 0, detail, cause: error })
      : new Retry({ call, status: 0, detail, cause: error }, "unknown");
  return failed;
}
