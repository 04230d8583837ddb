import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { Agent, type Dispatcher, request } from "undici";
import { isWatch, passedOn } from "../relay.ts";

/** Where a call is held back: nothing was executed yet, or all of it and the answer is on its way. */
export type Moment = "before" | "executed";

/** A call that is to be held back, once. */
export interface Trap {
  moment: Moment;
  /** It goes nowhere when it is released: whoever was to pass it on has given up meanwhile. */
  dropped?: boolean;
  matches(method: string, path: string, body: string): boolean;
  /** Called at that moment, before anything else can happen. */
  caught(): void;
}

export interface HoldingProxy extends AsyncDisposable {
  readonly url: string;
  /** From now on the first call that matches is held back. */
  set(trap: Trap): void;
  /** Whether a call is, or was, in the trap. */
  readonly sprung: boolean;
  /** Resolves when whoever sent the call that is held back has reset its connection. */
  readonly abandoned: Promise<void>;
  /** Lets the call go on; resolves when it has gone as far as it can. */
  release(): Promise<void>;
}

/** Passes HTTP calls on to `upstream`, and holds back the one it is told to until it is released. */
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
