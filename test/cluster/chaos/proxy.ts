import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { Agent, type Dispatcher, request } from "undici";
import { isWatch, passedOn } from "../../relay.ts";

/** Where a call is held: before it is executed, or after it, before the answer is sent. */
export type Moment = "before" | "executed";

/** A call to hold, once. */
export interface Trap {
  moment: Moment;
  /** It is dropped when it is released: the proxy that held it gave up. */
  dropped?: boolean;
  matches(method: string, path: string, body: string): boolean;
  /** Called at that moment, before anything else can happen. */
  caught(): void;
}

export interface HoldingProxy extends AsyncDisposable {
  readonly url: string;
  /** Holds the first call that matches. */
  set(trap: Trap): void;
  /** Whether a call is or was held. */
  readonly sprung: boolean;
  /** Resolves when the sender of the held call has reset its connection. */
  readonly abandoned: Promise<void>;
  /** Releases the call; resolves when it has been processed. */
  release(): Promise<void>;
}

/** Forwards HTTP calls to `upstream`, and holds the selected one until it is released. */
export async function startHoldingProxy(upstream: string, ca?: Buffer): Promise<HoldingProxy> {
  const agent = new Agent({ allowH2: false, headersTimeout: 0, bodyTimeout: 0, connect: ca ? { ca } : {} });
  const closing = new AbortController();
  const released = Promise.withResolvers<void>();
  const finished = Promise.withResolvers<void>();
  const abandoned = Promise.withResolvers<void>();
  let trap: Trap | undefined;
  let sprung = false;

  async function relay(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = "GET", url = "/" } = incoming;
    const body = await buffer(incoming);
    const caught = trap?.matches(method, url, body.toString("utf8")) ? trap : undefined;
    const hold = (moment: Moment): Promise<void> | undefined => {
      if (caught?.moment !== moment) return undefined;
      caught.caught();
      sprung = true;
      incoming.socket.once("close", abandoned.resolve);
      return released.promise;
    };
    if (caught) trap = undefined;
    try {
      await hold("before");
      if (caught?.dropped) return void incoming.socket.destroy();
      const answer = await request(upstream + url, {
        method: method as Dispatcher.HttpMethod,
        headers: passedOn(incoming.headers),
        body: body.length > 0 ? body : null,
        dispatcher: agent,
        signal: closing.signal,
      });
      if (isWatch(url)) {
        outgoing.writeHead(answer.statusCode, passedOn(answer.headers)).flushHeaders();
        return await pipeline(answer.body, outgoing);
      }
      const content = Buffer.from(await answer.body.arrayBuffer());
      await hold("executed");
      outgoing.writeHead(answer.statusCode, { ...passedOn(answer.headers), "content-length": content.length });
      outgoing.end(content);
    } finally {
      if (caught) finished.resolve();
    }
  }

  const server = createServer({ keepAliveTimeout: 120_000 }, (incoming, outgoing) => {
    outgoing.on("error", () => {});
    relay(incoming, outgoing).catch(() => incoming.socket.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    set(next) {
      trap = next;
    },
    get sprung() {
      return sprung;
    },
    abandoned: abandoned.promise,
    release() {
      released.resolve();
      return finished.promise;
    },
    async [Symbol.asyncDispose]() {
      released.resolve();
      closing.abort();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await agent.destroy();
    },
  };
}
