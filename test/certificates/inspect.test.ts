import { X509Certificate } from "node:crypto";
import { describe, expect, test } from "vitest";
import { inspect, type Pems } from "../../src/certificates/inspect.ts";
import { accessOf, DAY_MS, issue, NOW } from "./issue.ts";

/** The reason of the refusal. It must not quote the certificate. */
function problemOf(pems: Pems, now = NOW): string | undefined {
  const judged = inspect(pems, now);
  if (!("problem" in judged)) return undefined;
  for (const line of Object.values(pems).flatMap((pem) => pem.split("\n"))) {
    if (line !== "") expect(judged.problem).not.toContain(line);
  }
  return judged.problem;
}

describe("a certificate is fit to be published", () => {
  test.each(["ec", "rsa"] as const)("with a key of type %s, and says what it is", async (key) => {
    const pems = await accessOf({ key });
    const { serialNumber, fingerprint256 } = new X509Certificate(pems.certificate);
    expect(inspect(pems, NOW)).toEqual({
      facts: {
        serial: serialNumber,
        issuedAt: "2025-12-31T00:00:00.000Z",
        expiresAt: "2026-12-31T00:00:00.000Z",
        fingerprint: fingerprint256,
      },
    });
  });

  test("as the first of a chain that leads to the CA, in whatever order", async () => {
    const root = await issue({ name: "Root CA" });
    const upper = await issue({ name: "Upper CA", issuer: root });
    const lower = await issue({ name: "Lower CA", issuer: upper });
    const { certificate, privateKey } = await issue({ name: "admin", issuer: lower });
    const chain = `subject=admin\n${certificate}${upper.certificate}${lower.certificate}`;
    const serial = new X509Certificate(certificate).serialNumber;
    expect(inspect({ ca: root.certificate, certificate: chain, privateKey }, NOW)).toMatchObject({ facts: { serial } });
  });

  test("when one of several CAs has signed it", async () => {
    const pems = await accessOf();
    const { certificate: next } = await issue({ name: "Next CA" });
    expect(inspect({ ...pems, ca: `${next}${pems.ca}` }, NOW)).toHaveProperty("facts");
  });

  test("up to the moment at which it ends", async () => {
    const pems = await accessOf({ to: 1 });
    const end = NOW + DAY_MS;
    expect(problemOf(pems, end - 1)).toBeUndefined();
    expect(problemOf(pems, end)).toBe("it expired on 2026-01-02T00:00:00.000Z");
  });
});

describe("a certificate is refused", () => {
  test("that the CA has not signed", async () => {
    const [pems, others] = [await accessOf(), await accessOf()];
    expect(problemOf({ ...pems, ca: others.ca })).toBe("it is not signed by the cluster's CA");
  });

  test("that a CA of the same name has signed", async () => {
    const ca = await issue({ name: "Cluster CA" });
    const pems = await accessOf({ ca: ca.certificate });
    expect(problemOf(pems)).toBe("it is not signed by the cluster's CA");
  });

  test("whose chain has a gap", async () => {
    const root = await issue({ name: "Root CA" });
    const middle = await issue({ name: "Middle CA", issuer: root });
    const { certificate, privateKey } = await issue({ name: "admin", issuer: middle });
    expect(problemOf({ ca: root.certificate, certificate, privateKey })).toBe("it is not signed by the cluster's CA");
  });

  test("whose first is the CA, although the client's own comes after it", async () => {
    const pems = await accessOf();
    expect(problemOf({ ...pems, certificate: `${pems.ca}${pems.certificate}` })).toBe("its private key does not match");
  });

  test("that has another key", async () => {
    const [pems, others] = [await accessOf(), await accessOf({ key: "rsa" })];
    expect(problemOf({ ...pems, privateKey: (await accessOf()).privateKey })).toBe("its private key does not match");
    expect(problemOf({ ...pems, privateKey: others.privateKey })).toBe("its private key does not match");
  });

  test("whose issuer has ended", async () => {
    const issuer = await issue({ name: "Cluster CA", to: 10 });
    const { certificate, privateKey } = await issue({ name: "admin", issuer });
    const pems = { ca: issuer.certificate, certificate, privateKey };
    expect(problemOf(pems, NOW + 11 * DAY_MS)).toBe("its issuer expired on 2026-01-11T00:00:00.000Z");
  });

  test("that has not begun", async () => {
    expect(problemOf(await accessOf({ from: 2 }))).toBe("it is not valid before 2026-01-03T00:00:00.000Z");
  });

  test.each([
    ["certificate", "", "it is not a PEM certificate"],
    ["certificate", "MIIBXTCCAQOgAwIBAgIQ", "it is not a PEM certificate"],
    ["certificate", "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----", "it cannot be read"],
    ["ca", "none", "the cluster's CA is not a PEM certificate"],
    ["ca", "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----", "it cannot be read"],
    ["privateKey", "hunter2", "its private key is not a PEM key"],
    ["privateKey", "-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----", "its private key is not a PEM key"],
  ])("whose %s is %j", async (part, text, problem) => {
    expect(problemOf(await accessOf({ [part]: text }))).toBe(problem);
  });
});
