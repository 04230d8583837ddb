import { expect, it } from "vitest";
import { expiring } from "../../src/diagnostics/expiring.ts";
import type { PlatformReader } from "../../src/diagnostics/reader.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import { clusterOf } from "./landscape.ts";

const expiresAt = "2026-03-05T10:00:00.000Z";
const object = (kind: string, name: string, status: object, annotations: Record<string, string> = {}): KubeObject => ({
  apiVersion: "mooring.dev/v1alpha1",
  kind,
  metadata: { name, namespace: "shop", annotations },
  spec: { credentialsSecretRef: { name: "cred" } },
  status,
});
const issued = { version: 1, issuedAt: "2026-03-01T10:00:00.000Z", fingerprint: "ab", expiresAt };

async function asked(objects: KubeObject[], identity: PlatformReader["identity"]) {
  const unused = async () => {
    throw new Error("not asked for");
  };
  const platform: PlatformReader = {
    read: unused,
    endpoint: () => "",
    has: () => false,
    identity,
    contractNumber: 1,
    now: () => Date.parse("2026-03-01T10:00:00Z"),
    storageKeys: unused,
    storageRegion: undefined,
  };
  const sources = {
    platform: async () => platform,
    cluster: async () => clusterOf(objects),
    now: Date.now,
    signal: new AbortController().signal,
    progress: () => {},
  };
  return (await expiring(sources, { days: 30 })).items;
}

it("a token that an Account and this server use is named once", async () => {
  const account = object("Account", "main", { tokenExpiresAt: expiresAt, platformUserId: "user-1" });
  const identity = { userId: "user-1", expiresAt: Date.parse(expiresAt), tokenId: "t-1" };
  expect(await asked([account], identity)).toMatchObject([
    { object: "Account/shop/main", days_left: 4, also: ["token in use: the token itself"] },
  ]);
});

it("a certificate with its key is one thing, and renews itself unless its object is paused", async () => {
  const serial = { ...issued, serial: "1" };
  const user = object("KafkaUser", "app", { id: "u", key: issued, certificate: serial });
  expect(await asked([user], undefined)).toMatchObject([{ what: "certificate", renews_itself: true }]);
  const paused = object("AccessToken", "ci", { id: "t", key: issued }, { "mooring.dev/paused": "true" });
  expect(await asked([paused], undefined)).toMatchObject([
    { what: "token", renews_itself: false, what_to_do: expect.stringContaining("mooring.dev/paused") },
  ]);
});
