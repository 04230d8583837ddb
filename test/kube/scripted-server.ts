import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Server, Socket } from "node:net";

/** One request as it arrived, and the means to answer it by hand. */
export interface Exchange {
  method: string;
  path: string;
  query: Record<string, string>;
  headers: IncomingMessage["headers"];
  body: string;
  /** The local port of the connection: the same port means the same connection. */
  port: number | undefined;
  json(status: number, value: unknown, headers?: Record<string, string>): void;
  text(status: number, text: string): void;
  /** Begins or continues a streamed answer; resolves when the bytes have left. */
  write(chunk: string | Uint8Array): Promise<void>;
  /** A watch event, one line. */
  event(type: string, object: unknown): Promise<void>;
  end(): void;
  reset(): void;
  /** Resolves when the client is gone. */
  closed: Promise<void>;
}

export interface ScriptedServer extends AsyncDisposable {
  url: string;
  /** The next request that was not asked for yet. */
  next(): Promise<Exchange>;
  /** Requests that arrived and were not asked for. */
  readonly unread: number;
  readonly connections: number;
}

/** An HTTP server on a real socket that does nothing but what the test says, request by request. */
export async function scriptedServer(): Promise<ScriptedServer> {
  const arrived: Exchange[] = [];
  const waiting: ((exchange: Exchange) => void)[] = [];
  const sockets = new Set<Socket>();
  const server = createServer(async (request, response) => {
    const exchange = await toExchange(request, response);
    const waiter = waiting.shift();
    if (waiter) waiter(exchange);
    else arrived.push(exchange);
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  return {
    url: await listening(server),
    next() {
      const exchange = arrived.shift();
      return exchange ? Promise.resolve(exchange) : new Promise((resolve) => waiting.push(resolve));
    },
    get unread() {
      return arrived.length;
    },
    get connections() {
      return sockets.size;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Lets a server listen on a free port of the loopback interface; resolves with its URL. */
export async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("not listening on a port");
  return `http://127.0.0.1:${address.port}`;
}

async function toExchange(request: IncomingMessage, response: ServerResponse): Promise<Exchange> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const url = new URL(request.url ?? "/", "http://server");
  response.on("error", () => {});
  const write = (chunk: string | Uint8Array) =>
    new Promise<void>((resolve) => {
      response.write(chunk, () => resolve());
    });
  return {
    method: request.method ?? "",
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    headers: request.headers,
    body: Buffer.concat(chunks).toString(),
    port: request.socket.remotePort,
    json(status, value, headers = {}) {
      response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));
    },
    text(status, text) {
      response.writeHead(status).end(text);
    },
    write,
    event: (type, object) => write(`${JSON.stringify({ type, object })}\n`),
    end: () => response.end(),
    reset: () => request.socket.resetAndDestroy(),
    closed: new Promise((resolve) => response.on("close", resolve)),
  };
}
