import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { refusal } from "../platform.ts";
import { dnsForFile } from "./dns-calls.ts";

const { dns, newZone } = await dnsForFile();

const keysShape = z.looseObject({
  metadata: z.looseObject({
    items: z.array(
      z.object({
        keyTag: z.number(),
        digestAlgorithmMnemonic: z.literal("SHA-256"),
        digest: z.string(),
        keyData: z.object({ flags: z.number(), pubKey: z.string() }),
        composedKeyData: z.string(),
      }),
    ),
  }),
});

describe("DNSSEC keys", () => {
  it("are a pair whose digest is that of RFC 4034", async () => {
    const zone = await newZone({ zoneName: "signed.example" });
    refusal(await dns("GET", `${zone}/keys`), 404, "paas-dns-309");
    const properties = { validity: 120, keyParameters: { algorithm: "RSASHA256", kskBits: 4096, zskBits: 1024 } };
    expect((await dns("POST", `${zone}/keys`, { properties })).status).toBe(202);
    const [ksk, zsk] = keysShape.parse((await dns("GET", `${zone}/keys`)).body).metadata.items;
    expect([ksk?.keyData.flags, zsk?.keyData.flags]).toEqual([257, 256]);
    const key = Buffer.from(ksk?.keyData.pubKey ?? "", "base64");
    expect(key).toHaveLength(4 + 4096 / 8);
    const wire = Buffer.concat([Buffer.from("\u0006signed\u0007example\u0000"), Buffer.from([1, 1, 3, 8]), key]);
    expect(ksk?.digest).toBe(createHash("sha256").update(wire).digest("hex"));
    refusal(await dns("POST", `${zone}/keys`, { properties }), 409, "paas-dns-200");
    expect((await dns("DELETE", `${zone}/keys`)).status).toBe(202);
    refusal(await dns("GET", `${zone}/keys`), 404, "paas-dns-309");
  });

  it.each([
    [{ validity: 89 }, "validity"],
    [{ keyParameters: { kskBits: 512 } }, "keyParameters.kskBits"],
    [{ keyParameters: { algorithm: "ED25519" } }, "keyParameters.algorithm"],
    [{ nsecParameters: { nsec3Iterations: 51 } }, "nsecParameters.nsec3Iterations"],
    [{ nsecParameters: { nsec3SaltBits: 32 } }, "nsecParameters.nsec3SaltBits"],
  ])("with %j are refused: 422 that names the field", async (properties, field) => {
    const answer = await dns("POST", `${await newZone()}/keys`, { properties });
    expect(refusal(answer, 422, "paas-dns-100")).toContain(`[(root).properties.${field}]`);
  });
});
