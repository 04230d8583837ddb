import { lookup as lookupAddress } from "node:dns";
import type { LookupFunction } from "node:net";
import type { Broker, CallbackWithPromise, Connection, ConnectionPool, NetworkError } from "@platformatic/kafka";
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
  /** Resolves the name of an address to what a connection may use; by default to all that it has. */
  lookup?: ((url: URL) => LookupFunction) | undefined;
}

/** How long one answer may take, and when no more connections are opened: a delivery ends before its pass does. */
const PATIENCE = { answerMs: 10_000, deliveryMs: 30_000 };
const PART = 1_000;
/** Answers are a few kilobytes. A client without a limit would keep up to 2 GiB of one, and reads one without a pause. */
const MOST_ANSWERED = 512 * 1024;
/** A delivery has a few answers per thousand entries. A broker that makes the client ask again is asked without a pause. */
const MOST_ANSWERS = 1_000;

/**
 * One record per entry, with the entry's id as its key, so that consumers can recognize repeated entries. Within one delivery
 * the producer is idempotent. A connection lasts for one delivery.
 */
export function toKafka(place: KafkaPlace, guard: () => void, { answerMs, deliveryMs } = PATIENCE): Destination {
  const { brokers, topic, ca, certificate, privateKey } = place;
  const to: Destination = {
    most: PART,
    async deliver({ lines }) {
      // Loaded on the first delivery, because most operators have none.
      const { NetworkError, Producer, stringSerializers } = await import("@platformatic/kafka");
      const resumeWorker = yieldWorker();
      const doorman = createDoorman(place, NetworkError, performance.now() + deliveryMs);
      const producer = new Producer({
        clientId: "mooring",
        bootstrapBrokers: [...brokers],
        // Brokers have addresses and no names, so names are not checked. They are identified by the CA, which only this Kafka
        // cluster uses.
        tls: { ca, cert: certificate, key: privateKey, checkServerIdentity: () => undefined, lookup: doorman.lookup },
        connectTimeout: answerMs,
        requestTimeout: answerMs,
        retries: 2,
        idempotent: true,
        acks: -1,
        serializers: stringSerializers,
      });
      doorman.guard(producer.connections);
      try {
        for (let at = 0; at < lines.length; at += PART) {
          guard();
          const part = lines.slice(at, at + PART);
          const sent = producer.send({ messages: part.map(({ id, text }) => ({ topic, key: id, value: text })) });
          await Promise.race([sent, doorman.broken]);
        }
      } catch (error) {
        throw doorman.refusal() ?? (await asPlatformError(error, place, doorman.unresolved()));
      } finally {
        resumeWorker();
        await producer.close().catch(() => {});
      }
    },
  };
  return withoutKeys(to, [privateKey], guard);
}

/**
 * Checks every connection before it is opened, because any answer may name other brokers. Opens none after the end of the
 * delivery, and bounds what the brokers answer. The client throws in the middle of an answer that misses what it looks for,
 * where nothing would catch that.
 */
function createDoorman({ isAllowed, lookup, topic }: KafkaPlace, Refused: typeof NetworkError, end: number) {
  let refusal: PlatformError | undefined;
  let unresolved: string | undefined;
  let asking: { at: string; resolve: LookupFunction } = { at: "", resolve: lookupAddress };
  let answered = 0;
  let answers = 0;
  const { promise: broken, reject } = Promise.withResolvers<never>();
  broken.catch(() => {});
  const refuse = (detail: string) => {
    refusal ??= new Terminal({ call: `PRODUCE ${topic}`, status: 0, detail });
    return new Refused(detail, { canRetry: false });
  };
  const guard = (pool: ConnectionPool): void => {
    const open: (broker: Broker, callback: CallbackWithPromise<Connection>) => void = pool.get.bind(pool);
    const get: typeof open = (broker, callback) => {
      const isOver = refusal !== undefined || performance.now() > end;
      if (isOver) return callback(new Refused("the delivery is over", { canRetry: false }));
      const at = broker && `${broker.host}:${broker.port}`;
      if (at !== undefined && !isAllowed(`https://${at}`))
        return callback(refuse(`the broker ${at} is not allowed here: ${wayTo(at)}`));
      // The socket asks in the same turn in which it is opened.
      asking = { at: at ?? "", resolve: (at !== undefined && lookup?.(new URL(`https://${at}`))) || lookupAddress };
      open(broker, callback);
    };
    Object.assign(pool, { get });
    pool.on("connect", ({ connection: { socket } }) => {
      const emit: (event: string, ...args: unknown[]) => boolean = socket.emit.bind(socket);
      socket.emit = (event: string, ...args: unknown[]) => {
        try {
          return emit(event, ...args);
        } catch (cause) {
          const detail = "an answer of the brokers cannot be understood";
          reject(new Retry({ call: `PRODUCE ${topic}`, status: 0, detail, cause }, "unknown"));
          socket.destroy();
          return true;
        }
      };
      socket.on("data", ({ length }: Buffer) => {
        answered += length;
        answers += 1;
        if (answers > MOST_ANSWERS) socket.destroy(refuse("the brokers have the same question asked without end"));
        if (answered > MOST_ANSWERED) socket.destroy(refuse("the brokers answered with more than 512 KiB"));
      });
    });
  };
  const asked: LookupFunction = (hostname, options, callback) => {
    const { at, resolve } = asking;
    resolve(hostname, options, (error, ...found) => {
      // The same words for a name without an address: messages do not tell which names are known inside.
      if (error) unresolved ??= `the broker ${at} has no address that is allowed here: correct it, or ${wayTo(at)}`;
      callback(error, ...found);
    });
  };
  return { guard, lookup: asked, broken, refusal: () => refusal, unresolved: () => unresolved };
}

const wayTo = (at: string): string => `ask the administrator to allow https://${at} (--allow-endpoint)`;

async function asPlatformError(
  error: unknown,
  { topic, privateKey }: KafkaPlace,
  unresolved = "the brokers do not answer",
): Promise<unknown> {
  const { GenericError, ProtocolError, findErrorBy } = await import("@platformatic/kafka");
  if (!(error instanceof GenericError || error instanceof AggregateError)) return error;
  const call = `PRODUCE ${topic}`;
  const refusal = findErrorBy(error, "code", ProtocolError.code);
  const why = refusal ? String(refusal.apiId ?? refusal.message) : unresolved;
  const detail = keyRedactor([privateKey])(plainText(why));
  const failed: PlatformError =
    refusal && !refusal.canRetry
      ? new Terminal({ call, status: 0, detail, cause: error })
      : new Retry({ call, status: 0, detail, cause: error }, "unknown");
  return failed;
}
