import { createHash } from "node:crypto";
import { once } from "node:events";
import { connect, type TLSSocket } from "node:tls";
import { decode, decodeMulti, encode } from "@msgpack/msgpack";
import { z } from "zod";
import type { Platform } from "./platform.ts";

const heloShape = z.tuple([
  z.literal("HELO"),
  z.object({ nonce: z.instanceof(Uint8Array), auth: z.instanceof(Uint8Array), keepalive: z.literal(true) }),
]);
const pongShape = z.tuple([z.literal("PONG"), z.boolean(), z.string(), z.string(), z.string()]);

export type ForwardSender = Awaited<ReturnType<typeof openSender>>;

/** A connection to the forward listener that speaks byte by byte what a test wants it to. */
export async function openSender({ ready }: Platform, address: string) {
  const { hostname: host, port } = new URL(`tls://${address}`);
  const socket = connect({ host, port: Number(port), ca: ready.certificates.ca });
  await once(socket, "secureConnect");
  const received = reader(socket);
  const send = (...messages: unknown[]) =>
    socket.write(Buffer.concat(messages.map((each) => encode(each, { maxDepth: 1000, useBigInt64: true }))));
  const [, { nonce }] = heloShape.parse(await received.next());

  /** Shows the key and gives what the listener answers. */
  async function greet(key: string, { name = "sender", salt = Buffer.from([0, 255, 128, 7]) as Uint8Array } = {}) {
    const digest = (who: string) =>
      createHash("sha512").update(salt).update(who).update(nonce).update(key).digest("hex");
    send(["PING", name, salt, digest(name), "", ""]);
    const [, welcome, reason, server, proof] = pongShape.parse(await received.next());
    return { welcome, reason, proven: proof === digest(server) };
  }

  return {
    socket,
    send,
    greet,
    next: received.next,
    /** Resolves when the listener has closed the connection. */
    closed: received.closed,
  };
}

/** Values as they arrive; `next` rejects when the connection ends before there is one. */
function reader(socket: TLSSocket) {
  const values: unknown[] = [];
  let bytes = Buffer.alloc(0);
  socket.on("error", () => {});
  const closed = once(socket, "close").then(() => {});
  socket.on("data", (piece) => {
    bytes = Buffer.concat([bytes, piece]);
    values.push(...decodeMulti(bytes));
    bytes = Buffer.alloc(0);
    socket.emit("value");
  });
  async function next(): Promise<unknown> {
    while (values.length === 0) {
      await Promise.race([
        once(socket, "value"),
        closed.then(() => Promise.reject(new Error("the connection was closed"))),
      ]);
    }
    return values.shift();
  }
  return { next, closed };
}

/** A time as agents send it: an extension of type 0 with seconds and nanoseconds. */
export function eventTime(milliseconds: number): unknown {
  const bytes = Buffer.from([0xd7, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
  bytes.writeUInt32BE(Math.floor(milliseconds / 1000), 2);
  bytes.writeUInt32BE((milliseconds % 1000) * 1_000_000, 6);
  return decode(bytes);
}

const linesShape = z.object({
  lines: z.number(),
  dropped: z.number(),
  refused: z.object({ count: z.number(), reason: z.string().nullable() }),
  items: z.array(z.object({ tag: z.string(), at: z.string(), record: z.record(z.string(), z.unknown()) })),
});

/** The lines of a log pipeline, from steering. */
export async function receivedBy(platform: Platform, pipeline: string, query = "") {
  return linesShape.parse(await platform.steer("GET", `lines?pipeline=${pipeline}${query}`));
}
