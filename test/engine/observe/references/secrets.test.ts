import { describe, expect, test } from "vitest";
import { readSecrets } from "../../../../src/engine/observe/spec/references.ts";
import type { SecretInput } from "../../../../src/kinds/desired.ts";
import { KubeError } from "../../../../src/kube/client/errors.ts";
import type { KubeCall, KubeClient } from "../../../../src/kube/client/transport.ts";
import { secretValue } from "../../../../src/kube/write/owned-secret.ts";
import { child, desired, waiting } from "./wanted.ts";

describe("a Secret that spec names", () => {
  const input: SecretInput = { field: "bootVolume.userDataSecretRef", kind: "Secret", name: "boot", key: "data" };
  const encoded = Buffer.from("höchst geheim").toString("base64");
  const calls: KubeCall[] = [];
  const client = (answer: () => unknown): KubeClient => ({
    server: "",
    async request<T>(call: KubeCall): Promise<T> {
      calls.push(call);
      return JSON.parse(JSON.stringify(answer()));
    },
    stream: () => Promise.reject(new Error("nothing to stream")),
    close: async () => {},
  });
  const fails = (status: number) => () => {
    throw new KubeError({ status, reason: "Some", message: "no" });
  };
  const missing = waiting(
    "SecretNotFound",
    "bootVolume.userDataSecretRef: Secret boot in namespace shop does not exist or has no key data",
  );

  test("is read from the object's own namespace", async () => {
    const read = await readSecrets(
      client(() => ({ data: { data: encoded } })),
      child,
      desired({ secrets: [input] }),
    );
    expect(read).toEqual({ value: { "bootVolume.userDataSecretRef": "höchst geheim" } });
    expect(calls.at(-1)).toMatchObject({ method: "GET", path: "/api/v1/namespaces/shop/secrets/boot" });
  });

  test.each([
    ["does not exist", fails(404)],
    ["may not be read", fails(403)],
    ["lacks the key", () => ({ data: { other: encoded } })],
    ["is empty", () => ({})],
  ])("that %s is waited for", async (_, answer) => {
    expect(await readSecrets(client(answer), child, desired({ secrets: [input] }))).toEqual(missing);
  });

  test("whose reading fails is tried again", async () => {
    await expect(readSecrets(client(fails(500)), child, desired({ secrets: [input] }))).rejects.toThrow(KubeError);
  });

  test("or a ConfigMap is read by its name, and waited for", async () => {
    const keys: SecretInput = { field: "sshKeysFrom[0]", kind: "ConfigMap", name: "admins", key: "keys" };
    const read = (answer: () => unknown) => readSecrets(client(answer), child, desired({ secrets: [keys] }));
    expect(await read(() => ({ data: { keys: "ssh-rsa AAAA" } }))).toEqual({
      value: { "sshKeysFrom[0]": "ssh-rsa AAAA" },
    });
    expect(calls.at(-1)).toMatchObject({ method: "GET", path: "/api/v1/namespaces/shop/configmaps/admins" });
    const absent = "sshKeysFrom[0]: ConfigMap admins in namespace shop does not exist or has no key keys";
    expect(await read(fails(404))).toEqual(waiting("ReferenceNotFound", absent));
  });

  test("has no value for a key that every object inherits", () => {
    expect(secretValue({ data: {} }, "constructor")).toBeUndefined();
    expect(secretValue({ data: { toString: encoded } }, "toString")).toBe("höchst geheim");
  });
});
