import { createServer, type RequestListener, type Server, type ServerOptions } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { createConnections } from "./connections.ts";
import type { Pair } from "./serving-certificate.ts";

export interface OpenServer {
  server: Server;
  url: string;
  /** Replaces the certificate. No effect on a server without TLS. */
  renew(tls: Pair): void;
  /** Ends all connections, also those whose TLS handshake is not finished. */
  closeConnections(): void;
}

interface Options extends ServerOptions {
  /** See `connections.ts` for how peers share them. */
  mostConnections?: number;
  handshakeTimeout?: number;
}

/** A client has this long for the TLS handshake, then for the headers and for the whole of a request. */
export const times = {
  handshakeTimeout: 5_000,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 2_000,
};

/** A connection needs about 60 KB with TLS: these fit well into the memory limits of the chart. */
export const MOST_CONNECTIONS = 1_000;

/** A listening server, with TLS if there is a certificate. Rejects when it cannot listen on the address. */
export async function openServer(
  { host, port }: { host: string; port: number },
  listener: RequestListener,
  tls: Pair | undefined,
  { mostConnections = MOST_CONNECTIONS, ...options }: Options = {},
): Promise<OpenServer> {
  const connections = createConnections(mostConnections);
  const tracked: RequestListener = (request, response) => {
    if (connections.requested(request, response)) listener(request, response);
  };
  const secure = tls && createSecureServer({ ...times, ...options, ...tls }, tracked);
  const server = secure ?? createServer({ ...times, ...options }, tracked);
  // Runs before Node's own listener, so that a connection without a place never gets TLS state or an HTTP parser.
  const [accept] = server.listeners("connection");
  server.removeAllListeners("connection");
  server.on("connection", (socket: Socket) => {
    if (connections.admit(socket)) accept?.call(server, socket);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const address = server.address() as AddressInfo;
  return {
    server,
    url: `${secure ? "https" : "http"}://${host.includes(":") ? `[${host}]` : host}:${address.port}`,
    renew: (pair) => secure?.setSecureContext(pair),
    closeConnections() {
      connections.endPending();
      server.closeAllConnections();
    },
  };
}
