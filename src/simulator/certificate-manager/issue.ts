import { domainCertificate, newAuthority, validFor } from "../certificates.ts";
import type { AutoCertificate } from "../records/certificates.ts";
import type { Own, Row } from "../records/life.ts";
import type { World } from "../world.ts";
import { factsOf } from "./x509.ts";

const oneDay = 86_400_000;
/** Days, as with the usual providers. */
const lifetime = 90;
const renewedAfter = 60 * oneDay;

const issuing = new WeakMap<World, Promise<void>>();

/**
 * Issues the certificates that are due by the platform's clock. Creating a key takes long, so this runs before each
 * call to the certificate manager, outside its transaction, and never twice at the same time.
 */
export function issueDue(world: World): Promise<void> {
  const work = (issuing.get(world) ?? Promise.resolve()).then(() => issueAll(world));
  const settled = work.catch(() => {});
  issuing.set(world, settled);
  return work;
}

async function issueAll(world: World): Promise<void> {
  const now = world.clock.now();
  for (const row of world.certificates.autoCertificates.values()) {
    if (row.state === "AVAILABLE" && row.own.renewAt <= now) await issue(world, row, now);
  }
}

async function issue(world: World, { id, own }: Row<Own<AutoCertificate>>, now: number): Promise<void> {
  const authority = await authorityOf(world, now);
  const names = [...new Set([own.commonName, ...own.subjectAlternativeNames])];
  const bits = Number(own.keyAlgorithm.slice("rsa".length));
  const certificate = await domainCertificate(authority, own.commonName, names, bits, validFor(now, lifetime));
  world.documents.transaction(() => {
    const { autoCertificates, certificates } = world.certificates;
    const row = autoCertificates.get(id);
    if (row === undefined || row.state !== "AVAILABLE") return;
    const certificateId = world.chance.uuid("certificate-manager/certificate");
    const { createdBy, modifiedBy } = row;
    certificates.put(certificateId, {
      id: certificateId,
      state: "AVAILABLE",
      failure: null,
      ...{ dueAt: now, createdAt: now, createdBy, modifiedAt: now, modifiedBy, visibleAt: now },
      own: { name: own.name, certificate, certificateChain: authority.certificate, autoCertificate: id },
    });
    autoCertificates.put(id, {
      ...row,
      own: { ...row.own, lastIssuedCertificate: certificateId, renewAt: now + renewedAfter },
    });
    for (const old of [...certificates.values()]) {
      if (old.own.autoCertificate === id && factsOf(old.own.certificate).notAfter < now) certificates.delete(old.id);
    }
  });
}

async function authorityOf({ certificates: { authorities }, documents }: World, now: number) {
  const known = authorities.get("issuer");
  if (known !== undefined) return known;
  const authority = await newAuthority("Platform simulator issuing CA", validFor(now, 10 * 365));
  documents.transaction(() => authorities.put("issuer", authority));
  return authority;
}
