import { once } from "node:events";
import { createServer } from "node:http";
import { afterEach, expect, test } from "vitest";
import { createClient } from "../../../src/kube/client/transport.ts";
import { createStore } from "../../../src/kube/watch/store.ts";
import { watch } from "../../../src/kube/watch/watch.ts";
import { systemClock } from "../../../src/runtime/clock.ts";
import { WIDGETS, widget } from "../objects.ts";
import { listening } from "../scripted-server.ts";

const COUNT = 130_000;
let cleanUp = async () => {};
afterEach(() => cleanUp());

const object = (index: number) =>
  JSON.stringify(widget(`widget-${index}`, index + 1, { spec: { note: 'a "quoted" ünïcode note'.repeat(8) } }));

/** A server with 130,000 widgets that sends as fast as the reader reads. */
async function serve(streaming: boolean) {
  const server = createServer(async (request, response) => {
    const { searchParams } = new URL(request.url ?? "/", "http://server");
    const write = async (text: string) => {
      if (!response.write(text)) await once(response, "drain");
    };
    response.on("error", () => {});
    if (searchParams.get("watch") && !searchParams.has("sendInitialEvents")) return response.flushHeaders();
    if (searchParams.has("sendInitialEvents")) {
      if (!streaming) return response.writeHead(422).end();
      for (let index = 0; index < COUNT; index++) await write(`{"type":"ADDED","object":${object(index)}}\n`);
      const metadata = { resourceVersion: "200000", annotations: { "k8s.io/initial-events-end": "true" } };
      return write(`${JSON.stringify({ type: "BOOKMARK", object: { metadata } })}\n`);
    }
    await write('{"kind":"WidgetList","metadata":{"resourceVersion":"200000"},"items":[');
    for (let index = 0; index < COUNT; index++) await write((index ? "," : "") + object(index));
    return response.end("]}");
  });
  return { url: await listening(server), server };
}

test.each([
  ["streamed", true],
  ["unpaged", false],
])("130,000 objects arrive in one %s list", { timeout: 60_000 }, async (_, streaming) => {
  const { url, server } = await serve(streaming);
  const client = createClient({ server: url });
  const store = createStore();
  let heard = 0;
  store.subscribe(() => heard++);
  const errors: unknown[] = [];
  const watcher = watch({
    client,
    resource: WIDGETS,
    store,
    clock: systemClock,
    onError: (error) => errors.push(error),
  });
  cleanUp = async () => {
    await watcher.stop();
    await client.close();
    server.closeAllConnections();
    server.close();
  };
  await watcher.synced;
  expect(store.size).toBe(COUNT);
  expect(heard).toBe(COUNT);
  expect(store.get("test/widget-129999")?.metadata.resourceVersion).toBe("130000");
  expect(errors).toEqual([]);
});
