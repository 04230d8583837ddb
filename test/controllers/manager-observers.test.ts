import { expect, test } from "vitest";
import { createManager } from "../../src/controllers/manager.ts";
import { account } from "../../src/kinds/identity/account.ts";
import { clusterAccount } from "../../src/kinds/identity/cluster-account.ts";
import { kafkaUser } from "../../src/kinds/streaming/kafka-user.ts";
import { createQueue } from "../../src/kube/queue/queue.ts";
import { createTransport } from "../../src/platform/calls/transport.ts";
import { fakeApiServer } from "../engine/support/fake-api-server.ts";
import { objectOf } from "../engine/support/fixtures.ts";
import { SETTINGS } from "../engine/support/stage.ts";
import { unsealed } from "../engine/support/unsigned.ts";
import { fakeClock } from "../fake-clock.ts";

const reader = objectOf("KafkaUser", "reader", {
  spec: { clusterRef: { name: "events" } },
  status: { id: "u1", parents: { cluster: "c1" } },
});

test("the engine tells of an object from when it is first seen until it is gone", async () => {
  const clock = fakeClock();
  const api = fakeApiServer(reader);
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const queue = createQueue({ clock });
  const transport = createTransport({ clock, log });
  const reported: (string | undefined)[][] = [];
  const engine = createManager({
    seal: unsealed,
    kinds: [account, clusterAccount, kafkaUser],
    clock,
    log,
    client: api.client,
    transport,
    events: { record: () => {}, flush: async () => {}, close: async () => {} },
    queue,
    settings: SETTINGS,
    busyMs: 1500,
    guard: () => {},
    self: { pod: "mooring-0", process: "first" },
    observeObject: (key, object) => reported.push([key, object?.metadata.uid]),
  });
  const ending = new AbortController();
  const synced = engine.sync();
  await clock.advance(0);
  const users = api.streams.find(({ call }) => call.path.endsWith("/kafkausers"));
  users?.send("ADDED", api.get(reader));
  for (const { send } of api.streams) {
    send("BOOKMARK", { metadata: { resourceVersion: "2000", annotations: { "k8s.io/initial-events-end": "true" } } });
  }
  await synced;
  const working = engine.run(1, ending.signal);
  await clock.advance(0);
  expect(reported.at(-1)).toEqual(["KafkaUser/shop/reader", "uid-reader"]);
  users?.send("DELETED", { ...reader, metadata: { ...reader.metadata, resourceVersion: "3000" } });
  await clock.advance(0);
  expect(reported.at(-1)).toEqual(["KafkaUser/shop/reader", undefined]);
  ending.abort();
  queue.shutdown();
  await working;
  await engine.close();
  await transport.close();
});
