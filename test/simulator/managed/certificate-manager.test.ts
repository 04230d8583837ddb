import { X509Certificate } from "node:crypto";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { newAuthority, serverCertificate, validFor } from "../../../src/simulator/certificates.ts";
import { type CallOptions, items, platformForFile, refusal, resource } from "../platform.ts";

const platform = await platformForFile();
const { endpoints } = platform.ready;
const manager = (method: string, path: string, body?: unknown, options?: CallOptions) =>
  platform.call(method, `/certificate-manager${path}`, body, options);

async function made(collection: string, properties: object): Promise<string> {
  const answer = await manager("POST", collection, { properties });
  expect(answer).toMatchObject({ status: 201, body: { metadata: { state: "PROVISIONING" } } });
  await platform.advance(5);
  return `${collection}/${resource(answer).id}`;
}

const authority = await newAuthority("Test CA", validFor(Date.now(), 365));
const { certificate, privateKey } = await serverCertificate(
  authority,
  ["shop.example", "10.0.0.1"],
  validFor(Date.now(), 30),
);
const other = await serverCertificate(authority, ["other.example"], validFor(Date.now(), 30));
const upload = { name: "shop", certificate, certificateChain: authority.certificate, privateKey };
const binding = { keyId: "account-1", keySecret: "canary-secret" };
const provider = await made("/providers", {
  name: "acme",
  email: "tls@example.org",
  server: "https://acme.example/directory",
  externalAccountBinding: binding,
});
const providerId = provider.split("/")[2] ?? "";
const requested = { name: "www", provider: providerId, commonName: "www.example.org", keyAlgorithm: "rsa2048" };

const issuedShape = z.looseObject({
  metadata: z.looseObject({ notAfter: z.string(), expired: z.boolean() }),
  properties: z.looseObject({ certificate: z.string(), certificateChain: z.string() }),
});
const issued = async (id: unknown) => issuedShape.parse((await manager("GET", `/certificates/${id}`)).body);

describe("a certificate", () => {
  it("is read: what it says of itself is shown, its key never", async () => {
    const path = await made("/certificates", upload);
    const answer = await manager("GET", path);
    const { href, metadata, properties } = resource(answer);
    expect(href).toBe(`${endpoints.certificates}${path}`);
    expect(properties).toEqual({ name: "shop", certificate, certificateChain: authority.certificate });
    const x509 = new X509Certificate(certificate);
    expect(metadata).toMatchObject({
      state: "AVAILABLE",
      expired: false,
      notBefore: new Date(x509.validFrom).toISOString(),
      notAfter: new Date(x509.validTo).toISOString(),
      serialNumber: x509.serialNumber,
      commonName: "Platform simulator",
      subjectAlternativeNames: ["shop.example", "10.0.0.1"],
    });
    const everything = JSON.stringify([answer.body, await platform.steer("GET", "state")]);
    expect(everything).not.toContain("PRIVATE KEY");
  });

  it("is renamed by PATCH, and expires by the platform's clock", async () => {
    const short = await serverCertificate(authority, ["short.example"], validFor(Date.now(), 1));
    const path = await made("/certificates", { ...upload, ...short });
    expect(await manager("PATCH", path, { properties: { name: "renamed" } })).toMatchObject({
      status: 200,
      body: { properties: { name: "renamed", certificate: short.certificate } },
    });
    await platform.advance(2 * 86_400);
    expect(resource(await manager("GET", path)).metadata.expired).toBe(true);
    expect((await manager("DELETE", path)).status).toBe(202);
    await platform.advance(5);
    refusal(await manager("GET", path), 404, "paas-certificate-manager-309");
  });

  it.each([
    ["text for a certificate", { certificate: "none" }, "certificate"],
    ["another certificate's key", { privateKey: other.privateKey }, "privateKey"],
    ["no key", { privateKey: undefined }, "privateKey"],
    ["a chain that did not issue it", { certificateChain: other.certificate }, "certificateChain"],
    ["no name", { name: "" }, "name"],
  ])("with %s is refused: 422 that names the field and no key", async (_, fields, field) => {
    const answer = await manager("POST", "/certificates", { properties: { ...upload, ...fields } });
    expect(refusal(answer, 422, "paas-certificate-manager-100")).toContain(`[(root).properties.${field}]`);
    expect(JSON.stringify(answer.body)).not.toContain("BEGIN");
  });
});

describe("an auto-certificate", () => {
  it("issues a real certificate for its names, and renews it before it expires", async () => {
    const path = await made("/auto-certificates", { ...requested, subjectAlternativeNames: ["example.org"] });
    const { metadata, properties } = resource(await manager("GET", path));
    expect(properties).toEqual({ ...requested, subjectAlternativeNames: ["example.org"] });
    const first = await issued(metadata.lastIssuedCertificate);
    expect(first.metadata).toMatchObject({
      autoCertificate: path.split("/")[2],
      commonName: "www.example.org",
      subjectAlternativeNames: ["www.example.org", "example.org"],
    });
    const x509 = new X509Certificate(first.properties.certificate);
    const issuer = new X509Certificate(first.properties.certificateChain);
    expect(x509.checkIssued(issuer) && x509.verify(issuer.publicKey)).toBe(true);
    expect(x509.publicKey.asymmetricKeyDetails?.modulusLength).toBe(2048);

    await platform.advance(61 * 86_400);
    const renewed = resource(await manager("GET", path)).metadata.lastIssuedCertificate;
    expect(renewed).not.toBe(metadata.lastIssuedCertificate);
    const second = await issued(renewed);
    expect(Date.parse(second.metadata.notAfter)).toBeGreaterThan(Date.parse(first.metadata.notAfter));
    expect(items(await manager("GET", `/certificates?filter.autoCertificate=${path.split("/")[2]}`))).toHaveLength(2);
    expect(items(await manager("GET", "/certificates?filter.commonName=WWW.example"))).toHaveLength(2);
  });

  it.each([
    ["a provider that is not there", { provider: "none" }, "provider"],
    ["no domain", { commonName: "not a name" }, "commonName"],
    ["another algorithm", { keyAlgorithm: "ed25519" }, "keyAlgorithm"],
  ])("with %s is refused", async (_, fields, field) => {
    const answer = await manager("POST", "/auto-certificates", { properties: { ...requested, ...fields } });
    expect(refusal(answer, 422, "paas-certificate-manager-100")).toContain(`[(root).properties.${field}]`);
  });
});

describe("a provider", () => {
  it("never shows the secret of its account", async () => {
    const answer = await manager("GET", provider);
    expect(resource(answer).properties).toMatchObject({ externalAccountBinding: { keyId: "account-1" } });
    expect(JSON.stringify([answer.body, await platform.steer("GET", "state")])).not.toContain("canary-secret");
  });

  it("stays while an auto-certificate needs it", async () => {
    const own = await made("/providers", { name: "b", email: "b@example.org", server: "https://b.example/dir" });
    const user = await made("/auto-certificates", { ...requested, provider: own.split("/")[2] });
    refusal(await manager("DELETE", own), 409, "paas-certificate-manager-200");
    await manager("DELETE", user);
    await platform.advance(5);
    expect((await manager("DELETE", own)).status).toBe(202);
  });

  it("has an address and an email address", async () => {
    const answer = await manager("POST", "/providers", { properties: { name: "c", email: "c", server: "c" } });
    expect(refusal(answer, 422, "paas-certificate-manager-100")).toContain("email");
  });
});
