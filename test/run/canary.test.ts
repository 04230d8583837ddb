import { generateKeyPairSync, randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { newSecretKey } from "../../src/simulator/core/users/s3-keys.ts";
import { createSigner, newPrivateKey } from "../../src/simulator/identity/jwt.ts";
import { newKey } from "../../src/simulator/pipelines/keys.ts";
import { searchForKeys } from "./canary.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "mooring-canary-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const leaksIn = async (...lines: string[]) => {
  writeFileSync(join(folder, "output"), lines.join("\n"));
  return (await searchForKeys(folder)).leaks;
};
const base64 = (text: string) => Buffer.from(text).toString("base64");

const signer = createSigner(newPrivateKey());
const identity = { uuid: randomUUID(), contractNumber: 31_000_000, role: "owner", privileges: ["SNAPSHOT_CREATE"] };
const newToken = () => signer.issue(randomUUID(), { iss: "ionoscloud", iat: 1, exp: 2, identity });

describe("the search for keys in the output of a test run", () => {
  it.each([
    ["as it is", (key: string) => `"APIKEY: ${key}"`],
    ["in Base64", base64],
    ["in Base64, one byte into a file", (key: string) => base64(`x${key}`)],
    ["in Base64, two bytes into a file", (key: string) => base64(`x ${key}\n`)],
    ["in Base64, further into a file", (key: string) => base64(`remote_write:\n  - headers: { APIKEY: ${key} }\n`)],
  ])("finds one %s, a token, and a key of the object storage", async (_how, hide) => {
    for (let turn = 0; turn < 20; turn++) {
      expect(await leaksIn("nothing here", hide(newKey()))).toEqual([{ file: "output", line: 2 }]);
      expect(await leaksIn("nothing here", hide(newToken()))).toEqual([{ file: "output", line: 2 }]);
      expect(await leaksIn("nothing here", hide(newSecretKey()))).toEqual([{ file: "output", line: 2 }]);
    }
  });

  it.each([
    ["as it is", (pem: string) => pem],
    ["in a line of JSON", (pem: string) => JSON.stringify({ pem })],
    ["as a Secret has it", base64],
  ])("finds a private key %s", async (_how, hide) => {
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    expect(await leaksIn("nothing here", hide(pem))).toEqual([{ file: "output", line: 2 }]);
  });

  it("finds none in a fingerprint, a name or the first part of one", async () => {
    expect(
      await leaksIn(
        "9f86d081884c",
        "ingestkey_",
        newToken().split(".")[0] ?? "",
        "a key is in Secret web-metricpipeline",
        base64("no key"),
      ),
    ).toEqual([]);
  });

  it("leaves the credentials alone with which the simulator says that it is ready, and nothing else in that line", async () => {
    const s3 = { accessKey: "a", secretKey: newSecretKey() };
    const ready = { endpoints: { api: "http://127.0.0.1" }, token: newToken(), s3 };
    const words = [`  token       ${newToken()}`, `  secret key  ${newSecretKey()}`];
    expect(await leaksIn(JSON.stringify(ready), ...words)).toEqual([]);
    expect(await leaksIn(JSON.stringify({ ...ready, more: newToken() }))).toEqual([{ file: "output", line: 1 }]);
  });

  it("tells what it has searched, and whether a key was made at all", async () => {
    writeFileSync(join(folder, "a"), "Normal KeyIssued key 1 is in Secret web\n");
    writeFileSync(join(folder, "b"), "nothing\n");
    expect(await searchForKeys(folder)).toEqual({ files: 2, bytes: 48, issues: 1, leaks: [] });
  });
});
