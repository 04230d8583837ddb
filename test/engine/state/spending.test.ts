import { expect, test } from "vitest";
import { createSpending } from "../../../src/engine/state/spending.ts";
import { createConfigMapLedger } from "../../../src/gateway/access/ledger.ts";
import { readSpent } from "../../../src/kinds/inference/spending.ts";
import type { KubeObject } from "../../../src/kube/resource.ts";
import { fakeClock } from "../../fake-clock.ts";
import { fakeApiServer } from "../support/fake-api-server.ts";

const HOME = "mooring-system";
const KEY = "InferenceAccess/shop/assistant.v2";

test("a record of the gateway is reported for the InferenceAccess that has spent it, and again when it grows", async () => {
  const api = fakeApiServer();
  const clock = fakeClock();
  const changed: string[] = [];
  const onError = (error: unknown) => expect.fail(String(error));
  const spending = createSpending({
    client: api.client,
    clock,
    namespace: HOME,
    changed: (key) => changed.push(key),
    onError,
  });
  const synced = spending.sync();
  await clock.advance(0);
  const [stream] = api.streams;
  expect([stream?.call.path, stream?.call.query]).toMatchObject([
    `/api/v1/namespaces/${HOME}/configmaps`,
    { labelSelector: "app.kubernetes.io/managed-by=mooring-gateway" },
  ]);
  const annotations = { "k8s.io/initial-events-end": "true" };
  stream?.send("BOOKMARK", { metadata: { resourceVersion: "1", annotations } });
  await clock.advance(0);
  await synced;
  let kept: KubeObject | undefined;
  let version = 1;
  /** A ledger whose ConfigMap is watched. */
  const ledger = createConfigMapLedger(
    {
      async request<T>({ method, body }: { method: string; body?: unknown }): Promise<T> {
        if (method === "GET") return Object(kept ?? { data: {} });
        const { metadata, ...rest }: KubeObject = Object(body);
        kept = { ...rest, metadata: { ...metadata, uid: "u", resourceVersion: String(++version) } };
        stream?.send("MODIFIED", kept);
        return Object(kept);
      },
    },
    HOME,
  );
  await ledger.take("shop/assistant.v2", "2026-01-01", { least: 0, most: 0.02 }, 2);
  await clock.advance(0);
  expect(spending.of(KEY)).toEqual({ usage: { day: "2026-01-01", eur: 0.02 } });
  expect(spending.of("InferenceAccess/shop/other")).toBeUndefined();
  await ledger.take("shop/assistant.v2", "2026-01-01", { least: 0, most: 0.5 }, 2);
  await clock.advance(0);
  expect(spending.of(KEY)).toEqual({ usage: { day: "2026-01-01", eur: 0.52 } });
  expect(changed).toEqual([KEY, KEY]);
  await spending.close();
});

test("an amount has no digits of floating point sums", () => {
  expect(readSpent("2026-03-01 0.00010700000000000011")).toEqual({ day: "2026-03-01", eur: 0.000107 });
});
