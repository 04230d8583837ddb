import { expect, test } from "vitest";
import { readStatus } from "../../../src/engine/status/status.ts";
import type { KubeObject } from "../../../src/kube/resource.ts";
import { Retry, Terminal } from "../../../src/platform/answers/errors.ts";
import { objectOf } from "../support/fixtures.ts";
import { stage } from "../support/stage.ts";

const volume = objectOf("Volume", "data", {
  spec: {
    datacenterId: "0b6cb5a9-0f0b-4a7a-a1b0-6e0d4a4f0001",
    size: 10,
    type: "HDD",
    imageAlias: "debian:12",
    sshKeysFrom: [
      { configMapKeyRef: { name: "admins", key: "keys" } },
      { secretKeyRef: { name: "team", key: "keys" } },
    ],
  },
});
const encode = (text: string) => Buffer.from(text).toString("base64");
const given = (kind: string, name: string, keys: string): KubeObject => ({
  apiVersion: "v1",
  kind,
  metadata: { name, namespace: "shop" },
  data: { keys: kind === "Secret" ? encode(keys) : keys },
});
const key = "Volume/shop/data";
const said = ({ api }: ReturnType<typeof stage>) =>
  readStatus(api.get(volume) ?? volume).conditions?.map(({ type, reason, message }) => [type, reason, message]);

test("a volume with keys from a ConfigMap waits for it, says what is wrong with it, and is made once it is right", async () => {
  const life = stage([volume]);
  const { api, clock, platform } = life;
  const again = async () => {
    await clock.advance(60_000);
    life.sync();
    await life.passes(key);
    life.sync();
  };
  await life.passes(key);
  expect(said(life)?.[0]).toEqual([
    "Ready",
    "ReferenceNotFound",
    "sshKeysFrom[0]: ConfigMap admins in namespace shop does not exist or has no key keys",
  ]);
  api.put(given("ConfigMap", "admins", "hunter2"));
  api.put(given("Secret", "team", "ssh-rsa AAAA team"));
  await again();
  expect(said(life)).toContainEqual([
    "Stalled",
    "InvalidSpec",
    "sshKeysFrom[0]: keys in ConfigMap admins, line 1: must be one public key on one line, as in authorized_keys: ssh-ed25519 AAAA… comment",
  ]);
  api.put(given("ConfigMap", "admins", "# us\nssh-ed25519 AAAA me\n"));
  await again();
  const posts = platform.calls.filter(({ method }) => method === "POST");
  expect(posts).toMatchObject([{ body: { properties: { sshKeys: ["ssh-ed25519 AAAA me", "ssh-rsa AAAA team"] } } }]);
});

test("however long it waited for others, a mistake is first looked at again after the shortest pause", async () => {
  const life = stage([volume]);
  for (let waited = 0; waited < 6; waited++) {
    await life.passes(key);
    await life.clock.advance(60_000);
  }
  life.api.put(given("ConfigMap", "admins", "hunter2"));
  life.api.put(given("Secret", "team", "ssh-rsa AAAA team"));
  await life.passes(key);
  expect(said(life)).toContainEqual(["Stalled", "InvalidSpec", expect.stringContaining("line 1")]);
  life.api.put(given("ConfigMap", "admins", "ssh-ed25519 AAAA me"));
  await life.clock.advance(1_000);
  life.sync();
  await life.passes(key);
  expect(life.platform.calls.filter(({ method }) => method === "POST")).toHaveLength(1);
});

test("a refusal that quotes a key out of a Secret is told without it", async () => {
  const life = stage([volume]);
  life.api.put(given("ConfigMap", "admins", "ssh-ed25519 AAAA me"));
  life.api.put(given("Secret", "team", "# the team\nssh-rsa AAAAsecret team\n"));
  life.platform.beforeEach(({ method, url }) => {
    if (method !== "POST") return;
    throw new Terminal({ call: url, status: 422, platformMessage: "bad key ssh-rsa AAAAsecret team: too short" });
  });
  await life.passes(key);
  expect(said(life)?.[0]).toEqual(["Ready", "Rejected", "bad key [redacted]: too short"]);
});

const team = "ssh-rsa AAAAsecret team";
test.each([
  ["as it is", team],
  ["in base64", encode(team)],
  ["in hexadecimal digits", Buffer.from(team).toString("hex")],
  ["percent-encoded", [...Buffer.from(team)].map((byte) => `%${byte.toString(16)}`).join("")],
])(
  "an error that leaves the outcome open, and quotes a key out of a Secret %s, is told without it",
  async (_, quoted) => {
    const life = stage([volume]);
    life.api.put(given("ConfigMap", "admins", "ssh-ed25519 AAAA me"));
    life.api.put(given("Secret", "team", team));
    life.platform.beforeEach(({ method, url }) => {
      if (method !== "POST") return;
      throw new Retry({ call: url, status: 500, platformMessage: `failed for ${quoted}` }, "unknown");
    });
    await life.passes(key);
    const written = JSON.stringify([life.api.calls.map(({ body }) => body), life.events]);
    expect(written).toContain("failed for [redacted]");
    expect(written).not.toContain(quoted);
  },
);
