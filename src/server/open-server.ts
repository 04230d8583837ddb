import { createServer, type RequestListener, type Server, type ServerOptions } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Pair } from "./serving-certificate.ts";

export interface OpenServer {
  server: Server;
  url: string;
  /** Replaces the certificate. No effect on a server without TLS. */
  renew(tls: Pair): void;
}

/** A listening server, with TLS if there is a certificate. Rejects when it cannot listen on the address. */
export async function openServer(
  { host, port }: { host: string; port: number },
  listener: RequestListener,
  tls: Pair | undefined,
  options: ServerOptions = {},
): Promise<OpenServer> {
  const secure = tls && createSecureServer({ ...options, ...tls }, listener);
  const server = secure ?? createServer(options, listener);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const address = server.address() as AddressInfo;
  return {
    server,
    url: `${secure ? "https" : "http"}://${host.includes(":") ? `[${host}]` : host}:${address.port}`,
    renew: (pair) => secure?.setSecureContext(pair),
  };
}
