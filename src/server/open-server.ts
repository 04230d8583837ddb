import { createServer, type RequestListener, type Server, type ServerOptions } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Pair } from "./serving-certificate.ts";

export interface OpenServer {
  server: Server;
  url: string;
  /** Serves with another certificate from now on; only where there was one before. */
  renew(tls: Pair): void;
}

/** A server that listens, with TLS where there is a certificate. Rejects when the address cannot be had. */
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
