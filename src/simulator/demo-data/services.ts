import { newAuthority, serverCertificate, validFor } from "../certificates.ts";
import type { World } from "../world.ts";
import type { InsideCaller } from "./inside.ts";

const zoneName = "shop.example";

/** The domain of the shop with its records, keys and names of addresses. */
export async function makeDns({ call, made }: InsideCaller, ips: readonly string[]): Promise<string> {
  const [address = "", mail = ""] = ips;
  const zone = await made("/dns/zones", { zoneName, description: "The web shop" });
  const records = [
    { name: "", type: "A", content: address },
    { name: "www", type: "CNAME", content: zoneName },
    { name: "", type: "MX", content: `mail.${zoneName}`, priority: 10 },
    { name: "mail", type: "A", content: mail },
    { name: "", type: "TXT", content: "v=spf1 mx -all" },
    { name: "", type: "CAA", content: '0 issue "letsencrypt.org"' },
  ];
  for (const record of records) await made(`${zone}/records`, record);
  await call("POST", `${zone}/keys`, { properties: { validity: 90 } });
  await made("/dns/secondaryzones", { zoneName: "archive.example", primaryIps: ["192.0.2.53"] });
  await made("/dns/reverserecords", { name: `mail.${zoneName}`, ip: mail });
  return zone;
}

/** An uploaded certificate, and one that renews itself. */
export async function makeCertificates({ clock }: World, { made }: InsideCaller): Promise<void> {
  const base = "/certificate-manager";
  const authority = await newAuthority("Example CA", validFor(clock.now(), 3650));
  const bought = await serverCertificate(authority, [zoneName, `www.${zoneName}`], validFor(clock.now(), 365));
  await made(`${base}/certificates`, { name: "shop", ...bought, certificateChain: authority.certificate });
  const server = "https://acme-v02.api.letsencrypt.org/directory";
  const provider = await made(`${base}/providers`, { name: "letsencrypt", email: `tls@${zoneName}`, server });
  await made(`${base}/auto-certificates`, {
    ...{ name: "www", provider: provider.split("/").at(-1), commonName: `www.${zoneName}`, keyAlgorithm: "rsa2048" },
    subjectAlternativeNames: [zoneName],
  });
}

export const makeAccessKey = ({ made }: InsideCaller) =>
  made("/object-storage-management/accesskeys", { description: "backup" });
