import { expect, test } from "vitest";
import type { KubeClient } from "../../src/kube/client/transport.ts";
import { openSigningKey, SIGNING_KEY } from "../../src/operator/signing-key.ts";
import { fakeApiServer } from "../engine/support/fake-api-server.ts";
import { fakeClock } from "../fake-clock.ts";

const namespace = "mooring-system";
const empty = { apiVersion: "v1", kind: "Secret", metadata: { name: SIGNING_KEY, namespace, uid: "u" }, data: {} };

function opening(client: KubeClient) {
  const said: string[] = [];
  const log = { warn: () => {}, error: (_: object, message: string) => said.push(message) };
  return { said, opened: openSigningKey({ client, clock: fakeClock(), namespace, log }) };
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
