import { createPrivateKey, X509Certificate } from "node:crypto";
import { describe, expect, it } from "vitest";
import { items, platformForFile, refusal, resource } from "../platform.ts";
import { streamingOf } from "../streaming.ts";

const oneDay = 86_400_000;

const platform = await platformForFile();
const streaming = await streamingOf(platform);
const cluster = await streaming.cluster();

/** The platform's time, as its answers state it. */
const now = async () => Date.parse((await streaming.call("GET", "/clusters")).headers.get("date") ?? "");

describe("the user of a cluster", () => {
  it("is called admin and comes when the cluster is AVAILABLE", async () => {
    const young = `/clusters/${resource(await streaming.call("POST", "/clusters", streaming.body())).id}`;
    await platform.advance(2);
    expect(items(await streaming.call("GET", `${young}/users`))).toEqual([]);
    await platform.advance(20);
    expect(items(await streaming.call("GET", `${young}/users`))).toMatchObject([
      { type: "user", metadata: { state: "AVAILABLE" }, properties: { name: "admin" } },
    ]);
    refusal(await streaming.call("GET", `${young}/users/none/access`), 404, "paas-streaming-309");
    refusal(await streaming.call("GET", "/clusters/none/users"), 404, "paas-streaming-309");
  });

  it("gets a certificate for clients that matches its key and chains to the cluster's own authority", async () => {
    const access = await streaming.access(cluster);
    const authority = new X509Certificate(access.certificateAuthority);
    const certificate = new X509Certificate(access.certificate);
    expect(authority.ca).toBe(true);
    expect(authority.verify(authority.publicKey)).toBe(true);
    expect(certificate.ca).toBe(false);
    expect(certificate.checkIssued(authority)).toBe(true);
    expect(certificate.verify(authority.publicKey)).toBe(true);
    expect(certificate.checkPrivateKey(createPrivateKey(access.privateKey))).toBe(true);
    expect(certificate.subject).toBe("CN=admin");
    expect(certificate.keyUsage).toEqual(["1.3.6.1.5.5.7.3.2"]);
    expect(certificate.publicKey.asymmetricKeyDetails).toEqual({ namedCurve: "prime256v1" });
  });

  it("is trusted by no other cluster", async () => {
    const { certificate } = await streaming.access(cluster);
    const { certificateAuthority } = await streaming.access(await streaming.cluster({ name: "other" }));
    expect(new X509Certificate(certificate).verify(new X509Certificate(certificateAuthority).publicKey)).toBe(false);
  });

  it("gets the same certificate again, also when many ask at once for the first time", async () => {
    const fresh = await streaming.cluster({ name: "fresh" });
    const all = await Promise.all(Array.from({ length: 5 }, () => streaming.access(fresh)));
    expect(new Set(all.map(({ certificate }) => certificate)).size).toBe(1);
    expect(new Set(all.map(({ certificateAuthority }) => certificateAuthority)).size).toBe(1);
    expect(await streaming.access(fresh)).toEqual(all[0]);
  });
});

describe("a client certificate", () => {
  it("ends 365 days after its issue and is taken by the platform's clock and by real ones", async () => {
    const renewing = await streaming.cluster({ name: "renewing" });
    const issued = await now();
    const first = await streaming.access(renewing);
    const { validFromDate, validToDate } = new X509Certificate(first.certificate);
    expect(Math.abs(validToDate.getTime() - issued - 365 * oneDay)).toBeLessThan(oneDay / 24);
    expect(validFromDate.getTime()).toBeLessThan(Date.now());

    await platform.advance(182 * 86_400);
    expect((await streaming.access(renewing)).certificate).toBe(first.certificate);

    // After half of its lifetime, the next read gets a new certificate, and both are valid.
    await platform.advance(86_400);
    const second = await streaming.access(renewing);
    expect(second.certificate).not.toBe(first.certificate);
    expect(second.privateKey).not.toBe(first.privateKey);
    expect(second.certificateAuthority).toBe(first.certificateAuthority);
    const authority = new X509Certificate(second.certificateAuthority);
    const moved = await now();
    for (const { certificate } of [first, second]) {
      const each = new X509Certificate(certificate);
      expect(each.verify(authority.publicKey)).toBe(true);
      for (const clock of [Date.now(), moved]) {
        expect(each.validFromDate.getTime()).toBeLessThan(clock);
        expect(each.validToDate.getTime()).toBeGreaterThan(clock);
      }
    }
    expect(Math.abs(new X509Certificate(second.certificate).validToDate.getTime() - moved - 365 * oneDay)).toBeLessThan(
      oneDay / 24,
    );
    expect(authority.validToDate.getTime()).toBeGreaterThan(moved + 10 * 365 * oneDay);
  });
});

describe("secrets", () => {
  it("are in the access call alone", async () => {
    const { privateKey } = await streaming.access(cluster);
    const line = privateKey.split("\n")[1] ?? "";
    const elsewhere = [
      await streaming.call("GET", cluster),
      await streaming.call("GET", `${cluster}/users`),
      await platform.steer("GET", "state"),
    ];
    expect(JSON.stringify(await streaming.access(cluster))).toContain(line);
    expect(JSON.stringify(elsewhere)).not.toContain(line);
    expect(JSON.stringify(elsewhere)).not.toContain("PRIVATE KEY");
  });
});
