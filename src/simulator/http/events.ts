import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Effects } from "./effects.ts";

/** Sends each event in a packet of its own, as fast as the caller reads them, and stops when the caller disconnects. */
export async function sendEvents(
  response: ServerResponse,
  events: Iterable<string>,
  { eventPause, eventsUntilCut }: Pick<Effects, "eventPause" | "eventsUntilCut">,
  pause: (ms: number) => Promise<void>,
): Promise<void> {
  const disconnected = new AbortController();
  response.once("close", () => disconnected.abort());
  response.flushHeaders();
  let sent = 0;
  for (const event of events) {
    if (disconnected.signal.aborted) return;
    if (sent >= eventsUntilCut) return void response.destroy();
    sent += 1;
    const isBufferFree = response.write(`data: ${event}\n\n`);
    if (!isBufferFree) await once(response, "drain", { signal: disconnected.signal }).catch(() => {});
    await (eventPause > 0 ? pause(eventPause) : nextTurn());
  }
  response.end();
}
