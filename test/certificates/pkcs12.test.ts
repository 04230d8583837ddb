import { createPrivateKey, createPublicKey, X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Pems } from "../../src/certificates/inspect.ts";
import { keystoreOf, truststoreOf } from "../../src/certificates/pkcs12.ts";
import { type Result, run } from "../processes.ts";
import { accessOf, issue } from "./issue.ts";

const PASSWORD = "aB3-_xyz0123456789";
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "mooring-pkcs12-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs a program that the tests need: JDK 17 or OpenSSL 3. */
async function need(program: "keytool" | "openssl", args: string[]): Promise<Result> {
  const result = await run(program, args);
  if (result.code === 127) throw new Error(`${program} cannot be run: install JDK 17 and OpenSSL 3`);
  return result;
}

/** A store in a file, and how other programs read it. */
function opened(store: Uint8Array, name: string) {
  const path = join(folder, `${name}.p12`);
  writeFileSync(path, store);
  const english = "-J-Duser.language=en";
  return {
    list: (password: string) => need("keytool", [english, "-list", "-v", "-keystore", path, "-storepass", password]),
    read: (password: string, ...options: string[]) =>
      need("openssl", ["pkcs12", "-in", path, "-passin", `pass:${password}`, "-noenc", ...options]),
  };
}

const fingerprint = (pem: string) => new X509Certificate(pem).fingerprint256;

describe.each(["ec", "rsa"] as const)("a key store with a key of type %s", (key) => {
  let pems: Pems;
  let store: ReturnType<typeof opened>;
  beforeAll(async () => {
    pems = await accessOf({ key });
    store = opened(await keystoreOf(pems, PASSWORD), `keystore-${key}`);
  });

  test("is an entry of Java's with the whole chain", async () => {
    const { code, stdout } = await store.list(PASSWORD);
    expect(code, stdout).toBe(0);
    expect(stdout).toContain("Your keystore contains 1 entry");
    expect(stdout).toMatch(/Alias name: user\n[\s\S]*Entry type: PrivateKeyEntry\nCertificate chain length: 2\n/);
    const own = stdout.indexOf(fingerprint(pems.certificate));
    expect(own).toBeGreaterThan(0);
    expect(stdout.indexOf(fingerprint(pems.ca))).toBeGreaterThan(own);
  });

  test("gives back the key, the certificate and the CA", async () => {
    const { code, stdout } = await store.read(PASSWORD);
    expect(code).toBe(0);
    const found = createPublicKey(createPrivateKey(stdout.slice(stdout.indexOf("-----BEGIN PRIVATE KEY"))));
    expect(found.equals(createPublicKey(createPrivateKey(pems.privateKey)))).toBe(true);
    const certificates = stdout.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
    expect(certificates.map(fingerprint)).toEqual([pems.certificate, pems.ca].map(fingerprint));
    expect(stdout.match(/friendlyName: user/g)).toHaveLength(2);
  });

  test("is closed to another password", async () => {
    expect((await store.list("wrong-password")).code).not.toBe(0);
    expect(await store.read("wrong-password")).toMatchObject({ stderr: expect.stringContaining("Mac verify error") });
  });
});

test("a store is encrypted and signed by what is not out of date", async () => {
  const { read } = opened(await keystoreOf(await accessOf(), PASSWORD), "algorithms");
  const { stderr } = await read(PASSWORD, "-info", "-nokeys");
  const cipher = "PBES2, PBKDF2, AES-256-CBC, Iteration 10000, PRF hmacWithSHA256";
  for (const words of ["MAC: sha256, Iteration 10000", `Encrypted data: ${cipher}`, `Shrouded Keybag: ${cipher}`]) {
    expect(stderr).toContain(words);
  }
});

test("a key store of a chain holds each certificate once, with the client's own first", async () => {
  const root = await issue({ name: "Root CA" });
  const middle = await issue({ name: "Middle CA", issuer: root });
  const { certificate, privateKey } = await issue({ name: "admin", issuer: middle });
  const chain = `${certificate}${middle.certificate}${root.certificate}`;
  const store = await keystoreOf({ ca: root.certificate, certificate: chain, privateKey }, PASSWORD);
  const { stdout } = await opened(store, "chain").list(PASSWORD);
  expect(stdout).toContain("Certificate chain length: 3");
  expect(stdout.match(/Owner: CN=.*/g)).toEqual(["Owner: CN=admin", "Owner: CN=Middle CA", "Owner: CN=Root CA"]);
});

describe("a trust store", () => {
  test("is a certificate that Java trusts", async () => {
    const { ca } = await accessOf();
    const { list, read } = opened(await truststoreOf(ca, PASSWORD), "truststore");
    const { stdout } = await list(PASSWORD);
    expect(stdout).toContain("Your keystore contains 1 entry");
    expect(stdout).toMatch(/Alias name: ca\n[\s\S]*Entry type: trustedCertEntry\n/);
    expect(stdout).toContain(fingerprint(ca));
    expect(fingerprint((await read(PASSWORD)).stdout)).toBe(fingerprint(ca));
    expect((await list("wrong-password")).code).not.toBe(0);
    expect((await read("wrong-password")).code).not.toBe(0);
  });

  test("of a CA that is being replaced holds the old one and the new one", async () => {
    const [before, after] = [await issue({ name: "Old CA" }), await issue({ name: "New CA" })];
    const both = `${before.certificate}${after.certificate}`;
    const { stdout } = await opened(await truststoreOf(both, PASSWORD), "two").list(PASSWORD);
    expect(stdout.match(/Alias name: .*/g)?.toSorted()).toEqual(["Alias name: ca", "Alias name: ca-2"]);
    expect(stdout.match(/Entry type: trustedCertEntry/g)).toHaveLength(2);
  });
});

test("two stores of the same have nothing in common that could tell so", async () => {
  const { ca } = await accessOf();
  const [one, other] = [await truststoreOf(ca, PASSWORD), await truststoreOf(ca, PASSWORD)];
  expect(Buffer.compare(one, other)).not.toBe(0);
});
