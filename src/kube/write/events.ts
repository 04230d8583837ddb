import { hash } from "node:crypto";
import { type Clock, sleep } from "../../runtime/clock.ts";
import { createLru } from "../../runtime/lru.ts";
import { isAlreadyExists, isConflict, isNamespaceTerminating, isNotFound, KubeError } from "../client/errors.ts";
import type { KubeClient } from "../client/transport.ts";
import { EVENTS, type KubeObject, pathOf } from "../resource.ts";
import { createEventFilter } from "./event-filter.ts";

export type EventType = "Normal" | "Warning";

export interface EventRecorder {
  /** Never throws and never waits. Events over the limit are dropped, and when the buffer is full, the oldest. */
  record(object: KubeObject, type: EventType, reason: string, message: string): void;
  /** Resolves when the buffer is empty: each Event was written or given up. */
  flush(): Promise<void>;
  /** As `flush`, but gives up after five seconds. Nothing is recorded any more. */
  close(): Promise<void>;
}

/** One Event of the cluster. The same Event within ten minutes raises its count. */
interface Series {
  name: string;
  first: number;
  last: number;
  count: number;
  stored: boolean;
}

/** The content of an Event, kept only until it is written. */
interface Content {
  namespace: string;
  regarding: ReturnType<typeof referenceTo>;
  type: EventType;
  reason: string;
  message: string;
}

const SAME_WITHIN_MS = 600_000;
const SERIES = 4096;
const WAITING = 1000;
const RETRIES_MS = [1000, 3000];
const CLOSE_MS = 5000;
const MESSAGE_BYTES = 1024;

export function createEventRecorder(options: {
  client: KubeClient;
  component: string;
  instance: string;
  clock: Clock;
  log?: Record<"debug" | "warn", (fields: object, message: string) => void>;
}): EventRecorder {
  const { client, component, instance, clock, log } = options;
  const filter = createEventFilter(clock);
  const known = createLru<Series>(SERIES);
  const waiting = new Map<Series, Content>();
  const stopping = new AbortController();
  let pumping: Promise<void> | undefined;
  let serial = 0;
  let closed = false;

  /** Unique per object: the time in nanoseconds, as in client-go, with a counter in its lower digits. */
  function nameFor(object: string): string {
    const time = BigInt(clock.now()) * 1_000_000n + BigInt(serial++ % 1_000_000);
    return `${object.slice(0, 230).replace(/[.-]+$/, "")}.${time.toString(16)}`;
  }

  function seriesOf(object: KubeObject, { type, reason, message }: Content): Series {
    const now = clock.now();
    // A hash, to save memory: series of thousands of deleted objects are kept for a while.
    const key = hash("sha256", [identify(object), type, reason, message].join("\n"), "base64url");
    const running = known.get(key);
    const series: Series =
      running && now - running.last < SAME_WITHIN_MS
        ? running
        : { name: nameFor(object.metadata.name), first: now, last: now, count: 0, stored: false };
    series.count++;
    series.last = now;
    known.set(key, series);
    return series;
  }

  async function write(series: Series, content: Content): Promise<void> {
    const { namespace, regarding } = content;
    if (series.stored) {
      const body = { count: series.count, lastTimestamp: time(series.last) };
      const path = pathOf(EVENTS, { namespace, name: series.name });
      try {
        await send("PATCH", path, body, "application/merge-patch+json");
        return;
      } catch (error) {
        if (!isNotFound(error)) throw error;
        // The Event's TTL has passed: start a new series.
        Object.assign(series, { name: nameFor(regarding.name), first: series.last, count: 1 });
      }
    }
    const author = {
      source: { component },
      reportingComponent: component,
      // The API server accepts no longer value, and a pod name may be longer.
      reportingInstance: instance.slice(0, 128),
    };
    const event = { ...eventOf(series, content), ...author };
    await send("POST", pathOf(EVENTS, { namespace }), event).catch((error: unknown) => {
      // Already written by an earlier attempt whose answer was lost.
      if (!isAlreadyExists(error)) throw error;
    });
    series.stored = true;
  }

  const send = (method: "POST" | "PATCH", path: string, body: unknown, contentType = "application/json") =>
    client.request({ method, path, body, contentType, signal: stopping.signal, deadlineMs: 10_000 });

  async function writeOrDrop(series: Series, content: Content): Promise<void> {
    for (const pause of [...RETRIES_MS, undefined]) {
      try {
        return await write(series, content);
      } catch (error) {
        if (stopping.signal.aborted) return;
        const fields = { event: content.reason, object: content.regarding.name, err: error };
        if (isBecauseOfDeletion(error)) return log?.debug(fields, "Event dropped");
        if (pause === undefined || !isTransient(error)) return log?.warn(fields, "Event not written");
        log?.debug({ ...fields, retryInMs: pause }, "Event not written yet");
        await sleep(clock, pause, stopping.signal).catch(() => {});
      }
    }
  }

  async function pump(): Promise<void> {
    for (const [series, content] of waiting) {
      waiting.delete(series);
      if (!stopping.signal.aborted) await writeOrDrop(series, content);
    }
    pumping = undefined;
  }

  const flush = () => pumping ?? Promise.resolve();

  return {
    record(object, type, reason, message) {
      const namespace = object.metadata.namespace ?? "";
      if (closed || !filter.passes(identify(object), { type, namespace, reason })) return;
      const regarding = referenceTo(object);
      const content = { namespace: namespace || "default", regarding, type, reason, message: shorten(message) };
      waiting.set(seriesOf(object, content), content);
      for (const oldest of waiting.keys()) {
        if (waiting.size <= WAITING) break;
        waiting.delete(oldest);
      }
      pumping ??= pump();
    },
    flush,
    async close() {
      closed = true;
      const cancel = clock.after(CLOSE_MS, () => stopping.abort());
      await flush();
      cancel();
    },
  };
}

function eventOf({ name, first, last, count }: Series, { namespace, regarding, ...rest }: Content) {
  return {
    apiVersion: "v1",
    kind: "Event",
    metadata: { name, namespace },
    involvedObject: regarding,
    ...rest,
    count,
    firstTimestamp: time(first),
    lastTimestamp: time(last),
    // Required fields of events.k8s.io/v1.
    eventTime: microTime(first),
    action: "Reconcile",
  };
}

function referenceTo({ apiVersion, kind, metadata }: KubeObject) {
  const { name, namespace, uid, resourceVersion } = metadata;
  return { apiVersion, kind, name, namespace, uid, resourceVersion };
}

const identify = ({ kind, metadata }: KubeObject): string =>
  metadata.uid ?? `${kind}/${metadata.namespace ?? ""}/${metadata.name}`;

/** The namespace is deleted or being deleted. */
const isBecauseOfDeletion = (error: unknown): boolean => isNamespaceTerminating(error) || isNotFound(error);

/** No answer, a server error, or another write of the same Event: a retry may succeed. */
const isTransient = (error: unknown): boolean =>
  error instanceof KubeError && (error.status === 0 || error.status >= 500 || isConflict(error));

const microTime = (ms: number): string => new Date(ms).toISOString().replace("Z", "000Z");
const time = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");

/** Parts of the text come from outside: it must stay on one line and carry no terminal control codes. */
function shorten(text: string): string {
  const message = text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ");
  if (Buffer.byteLength(message) <= MESSAGE_BYTES) return message;
  const { read } = new TextEncoder().encodeInto(message, new Uint8Array(MESSAGE_BYTES - 3));
  return `${message.slice(0, read)}…`;
}
