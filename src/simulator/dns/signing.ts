import { createHash } from "node:crypto";
import { z } from "zod";
import { checkedProperties } from "../core/kind/body.ts";
import type { Call, Reply } from "../http/exchange.ts";
import { conflict, missing } from "../http/refusal.ts";
import { stampsOf, urnOf } from "../managed/service.ts";
import type { Signing, Zone } from "../records/dns.ts";
import type { Own, Row } from "../records/life.ts";
import type { World } from "../world.ts";
import { dnsHost, zoneOf } from "./kinds.ts";

const between = (low: number, high: number) => {
  const rule = `must be a whole number from ${low} to ${high}`;
  return z.int(rule).min(low, rule).max(high, rule).nullish();
};
const bits = z.literal([1024, 2048, 4096], { error: "must be 1024, 2048 or 4096" }).nullish();
const signingShape = z.object({
  validity: between(90, 365),
  keyParameters: z
    .object({
      algorithm: z.literal("RSASHA256", { error: "must be RSASHA256" }).nullish(),
      kskBits: bits,
      zskBits: bits,
    })
    .nullish(),
  nsecParameters: z
    .object({
      nsecMode: z.enum(["NSEC", "NSEC3"], { error: "must be NSEC or NSEC3" }).nullish(),
      nsec3Iterations: between(0, 50),
      nsec3SaltBits: between(64, 128),
    })
    .nullish(),
});

/** Signs a zone. From then on it has a key-signing key and a zone-signing key. */
export function signZone(world: World, call: Call): Reply {
  const zone = zoneOf(world, call);
  if (world.dns.signings.get(zone.id) !== undefined) {
    throw conflict(`The zone ${zone.id} is signed already`);
  }
  const given = checkedProperties(signingShape, call.body);
  const { keyParameters: keys, nsecParameters: nsec } = given;
  const signing: Signing = {
    validity: given.validity ?? 90,
    algorithm: "RSASHA256",
    kskBits: keys?.kskBits ?? 2048,
    zskBits: keys?.zskBits ?? 2048,
    nsecMode: nsec?.nsecMode ?? "NSEC3",
    nsec3Iterations: nsec?.nsec3Iterations ?? 0,
    nsec3SaltBits: nsec?.nsec3SaltBits ?? 64,
    createdAt: call.at,
    createdBy: call.caller.user.id,
  };
  world.dns.signings.put(zone.id, signing);
  return { status: 202, body: shownSigning(world, call, zone, signing) };
}

export function readSigning(world: World, call: Call): Reply {
  const zone = zoneOf(world, call);
  const signing = world.dns.signings.get(zone.id);
  if (signing === undefined) throw missing();
  return { status: 200, body: shownSigning(world, call, zone, signing) };
}

export function unsignZone(world: World, call: Call): Reply {
  const { id } = zoneOf(world, call);
  if (world.dns.signings.get(id) === undefined) throw missing();
  world.dns.signings.delete(id);
  return { status: 202 };
}

function shownSigning(world: World, call: Call, { id, own }: Row<Own<Zone>>, signing: Signing) {
  const { algorithm, kskBits, zskBits, nsecMode, nsec3Iterations, nsec3SaltBits, createdAt, createdBy } = signing;
  const stamps = { createdAt, createdBy, modifiedAt: createdAt, modifiedBy: createdBy };
  const keys = [
    // The key-signing key, then the zone-signing key.
    { flags: 257, bits: kskBits },
    { flags: 256, bits: zskBits },
  ];
  return {
    id,
    type: "dnsseckeys",
    href: `${call.origin}/${dnsHost.path}/zones/${id}/keys`,
    metadata: {
      ...stampsOf(world, call, stamps),
      resourceURN: urnOf(world, dnsHost, "dnsseckeys", id),
      zoneId: id,
      items: keys.map((key) => shownKey(own.zoneName, `${id}/${createdAt}`, key)),
    },
    properties: {
      keyParameters: { algorithm, kskBits, zskBits },
      nsecParameters: { nsecMode, nsec3Iterations, nsec3SaltBits },
      validity: signing.validity,
    },
  };
}

/** A DNSKEY with its tag and the digest for the parent zone (RFC 4034, 5.1.4 and appendix B). */
function shownKey(zoneName: string, origin: string, { flags, bits: size }: { flags: number; bits: number }) {
  // Nothing is signed with the key: only the modulus is visible, and it follows from the zone.
  const blocks = Array.from({ length: size / 256 }, (_, n) =>
    createHash("sha256").update(`${origin}/${flags}/${n}`).digest(),
  );
  const modulus = Buffer.concat(blocks);
  modulus[0] = (modulus[0] ?? 0) | 0x80;
  modulus[modulus.length - 1] = (modulus.at(-1) ?? 0) | 1;
  // The exponent 65537 in three bytes, before the modulus.
  const publicKey = Buffer.concat([Buffer.from([3, 1, 0, 1]), modulus]);
  // Protocol 3, algorithm 8: RSASHA256.
  const data = Buffer.concat([Buffer.from([flags >> 8, flags & 0xff, 3, 8]), publicKey]);
  const sum = data.reduce((total, byte, index) => total + (index % 2 === 0 ? byte << 8 : byte), 0);
  const name = zoneName.split(".").flatMap((label) => [Buffer.from([label.length]), Buffer.from(label)]);
  const digest = createHash("sha256")
    .update(Buffer.concat([...name, Buffer.from([0]), data]))
    .digest("hex");
  const pubKey = publicKey.toString("base64");
  return {
    keyTag: (sum + (sum >>> 16)) & 0xffff,
    digestAlgorithmMnemonic: "SHA-256",
    digest,
    keyData: { flags, pubKey },
    composedKeyData: `${flags} 3 8 ${pubKey}`,
  };
}
