import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { Agent, request } from "undici";
import { isWatch, passedOn } from "../relay.ts";
import type { Moment } from "./calls.ts";
import type { Passage } from "./recorder.ts";

export interface ProxyOptions {
  /** The destination of calls. */
  upstream: string;
  /** The CA of an upstream with TLS. */
  ca?: Buffer;
  /** Called when a call has arrived completely. `process` is the value of `owner` when its connection was opened. */
  arrived(method: string, url: string, process: number): Passage;
  owner(): number;
  /** Replaces the URL of a call. */
  rewrite?(url: string): string;
  /** The fatal call: its connection ends without an answer, or it continues, maybe later. */
  strike(moment: Moment): Promise<"dies" | "goes on">;
}

export interface Proxy {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * A proxy between the operator and one of its two sides. At the fatal call it strikes, by default with a kill:
 *
 * - `before`: the call has arrived at the proxy and is not forwarded;
 * - `executed`: the whole answer has arrived at the proxy, and the operator gets none of it;
 * - `answered`: the operator has the whole answer, and dies on the next tick.
 *
 * Other calls in progress continue, as in a network. Answers are passed on when they are complete; those of watches as they
 * arrive.
 */
export async function startProxy(options: ProxyOptions): Promise<Proxy> {
  const { upstream, ca, rewrite = (url) => url } = options;
  const agent = new Agent({ allowH2: false, headersTimeout: 0, bodyTimeout: 0, connect: ca ? { ca } : {} });
  const owners = new WeakMap<Socket, number>();
  const closing = new AbortController();

  async function relay(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = "GET", url = "/" } = incoming;
    const body = await buffer(incoming);
    const passage = options.arrived(method, url, owners.get(incoming.socket) ?? 0);
    let status = 0;
    try {
      if (passage.fatal === "before" && (await options.strike("before")) === "dies") return end(incoming);
      const answer = await request(upstream + rewrite(url), {
        method,
        headers: passedOn(incoming.headers),
        body: body.length > 0 ? body : null,
        dispatcher: agent,
        signal: closing.signal,
      });
      status = answer.statusCode;
      if (isWatch(url)) {
        outgoing.writeHead(status, passedOn(answer.headers)).flushHeaders();
        return await pipeline(answer.body, outgoing);
      }
      const content = Buffer.from(await answer.body.arrayBuffer());
      if (passage.fatal === "executed" && (await options.strike("executed")) === "dies") return end(incoming);
      outgoing.writeHead(status, { ...passedOn(answer.headers), "content-length": content.length });
      // The reader may be gone: the operator has died in another call.
      if (outgoing.destroyed) return;
      await new Promise<void>((resolve) => {
        outgoing.once("close", resolve);
        outgoing.end(content, resolve);
      });
      if (passage.fatal === "answered") setImmediate(() => void options.strike("answered"));
    } finally {
      passage.ended(status);
    }
  }

  function end(incoming: IncomingMessage): void {
    incoming.socket.destroy();
  }

  const server = createServer({ keepAliveTimeout: 120_000 }, (incoming, outgoing) => {
    outgoing.on("error", () => {});
    // The caller is dead, or notices the closed connection.
    relay(incoming, outgoing).catch(() => incoming.socket.destroy());
  });
  server.on("connection", (socket) => owners.set(socket, options.owner()));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("a proxy has no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    async close() {
      closing.abort();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await agent.destroy();
    },
  };
}
