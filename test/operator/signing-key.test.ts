import { expect, test } from "vitest";
import { KubeError } from "../../src/kube/client/errors.ts";
import type { KubeClient } from "../../src/kube/client/transport.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import { openSigningKey, SIGNING_KEY } from "../../src/operator/signing-key.ts";
import { fakeApiServer } from "../engine/support/fake-api-server.ts";
import { fakeClock } from "../fake-clock.ts";
import { endOfList } from "../kube/watch/watch-stage.ts";

const namespace = "mooring-system";
const empty = { apiVersion: "v1", kind: "Secret", metadata: { name: SIGNING_KEY, namespace, uid: "u" }, data: {} };

function opening(client: KubeClient, clock = fakeClock()) {
  const said: string[] = [];
  const missing: boolean[] = [];
  const log = { warn: () => {}, error: (_: object, message: string) => said.push(message) };
  const observe = (isMissing: boolean) => void missing.push(isMissing);
  return { said, missing, opened: openSigningKey({ client, clock, namespace, log, observe }) };
}

test("an operator whose key is lost says how to go on, and never to delete the Secret", async () => {
  const { said, opened } = opening(fakeApiServer().client);
  await using key = await opened;
  void key.ensure(() => 3);
  await expect.poll(() => said).toHaveLength(1);
  const refusal = await opening(fakeApiServer(empty).client).opened.then(String, (error: Error) => error.message);
  expect(refusal).toContain("has no key");
  for (const message of [...said, refusal]) {
    expect(message).toContain("restore");
    expect(message).toMatch(/kubectl -n mooring-system (create|patch) secret/);
    expect(message).not.toContain("delete the");
  }
});

/** A key whose Secret the watch has shown. */
async function watched(clock = fakeClock()) {
  const secret = { ...empty, data: { current: "b25l", former: "dHdv" } };
  const api = fakeApiServer(secret);
  const { missing, opened } = opening(api.client, clock);
  const key = await opened;
  await expect.poll(() => api.streams).toHaveLength(1);
  const stored: KubeObject = structuredClone(api.get(secret) ?? secret);
  const tell = (type: string, object: object) => api.streams[0]?.send(type, object);
  tell("ADDED", stored);
  tell("BOOKMARK", endOfList(Number(stored.metadata.resourceVersion)));
  await clock.advance(0);
  return { key, api, clock, secret, stored, missing, tell };
}

test("a key that is exchanged is told to all at once, and the same keys again are no news", async () => {
  const { key, clock, stored, tell } = await watched();
  await using _ = key;
  let heard = 0;
  key.subscribe(() => heard++);
  for (const [resourceVersion, current] of Object.entries({ 2001: "dGhyZWU=", 2002: "dGhyZWU=", 2003: "Zm91cg==" })) {
    const metadata = { ...stored.metadata, resourceVersion };
    tell("MODIFIED", { ...stored, metadata, data: { current, former: "b25l" } });
    await clock.advance(0);
  }
  expect(heard).toBe(2);
});

test("a deleted Secret is put back with the same keys, with a growing pause while that fails", async () => {
  const { key, api, clock, secret, stored, missing, tell } = await watched();
  await using _ = key;
  const attempts: number[] = [];
  let isRefused = true;
  api.beforeEach(({ method, query }) => {
    if (method !== "POST" || query?.dryRun) return;
    attempts.push(clock.monotonic());
    if (isRefused) throw new KubeError({ status: 403, reason: "Forbidden", message: "Forbidden" });
  });
  api.remove(secret);
  const { version: resourceVersion } = api;
  tell("DELETED", { ...stored, metadata: { ...stored.metadata, resourceVersion } });
  await clock.advance(300_000);
  const pauses = attempts.slice(1).map((at, nth) => at - (attempts[nth] ?? 0));
  expect(pauses.slice(0, 8)).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
  expect(missing.at(-1)).toBe(true);
  isRefused = false;
  await clock.advance(60_000);
  expect(api.get(secret)).toMatchObject({ data: secret.data });
  expect(missing.at(-1)).toBe(false);
});
