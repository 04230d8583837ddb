import { createHash, timingSafeEqual } from "node:crypto";
import { encode } from "@msgpack/msgpack";
import { z } from "zod";
import type { SharedKey } from "../../pipelines/keys.ts";
import { textOf } from "./messagepack.ts";

/** The host name of the listener; a sender with the same name is the listener itself. */
const ownName = "logs.simulator";

/** No message of the handshake is larger. */
export const largestHandshake = 4096;

const bytes = z.instanceof(Uint8Array);
const pingSchema = z.tuple([
  bytes.refine((word) => textOf(word) === "PING"),
  /** The sender's host name. */
  bytes,
  /** The salt: any bytes, whether sent as text or as binary. */
  bytes,
  /** The digest, in hexadecimal. */
  bytes,
  bytes,
  bytes,
]);

/** Opens the handshake. Nonce and auth are binary, as agents expect; auth is empty: there are no users besides the key. */
export const helo = (nonce: Uint8Array) => encode(["HELO", { nonce, auth: new Uint8Array(0), keepalive: true }]);

export interface Greeting {
  /** Undefined: the sender is refused. */
  sender: SharedKey | undefined;
  /** The PONG to send. */
  answer: Uint8Array;
}

/**
 * Checks a sender's PING, whose digest proves that the sender knows the key of a pipeline. Every key is compared in
 * full, so that the time reveals nothing. Undefined when the message is no PING.
 */
export function greet(message: unknown, nonce: Uint8Array, keys: Iterable<SharedKey>): Greeting | undefined {
  const ping = pingSchema.safeParse(message);
  if (!ping.success) return undefined;
  const [, name, salt, digest] = ping.data;
  const digestFor = (host: Uint8Array | string, key: string) =>
    createHash("sha512").update(salt).update(host).update(nonce).update(key).digest("hex");

  if (textOf(name) === ownName) return { sender: undefined, answer: pong(false, "same hostname", "") };
  let known: SharedKey | undefined;
  for (const each of keys) if (same(Buffer.from(digestFor(name, each.key)), digest)) known = each;
  if (known === undefined) return { sender: undefined, answer: pong(false, "shared_key mismatch", "") };
  return { sender: known, answer: pong(true, "", digestFor(ownName, known.key)) };
}

/** The digest proves to the sender that the listener knows the key too. */
const pong = (welcome: boolean, reason: string, digest: string) =>
  encode(["PONG", welcome, reason, welcome ? ownName : "", digest]);

const same = (a: Uint8Array, b: Uint8Array) => a.length === b.length && timingSafeEqual(a, b);
