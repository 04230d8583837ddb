import type { Server } from "node:http";
import type { Server as AnyServer } from "node:net";

/** Starts to listen and returns the origin, e.g. `http://127.0.0.1:8080`. Rejects when the address is taken. */
export async function listenOn(server: Server, host: string, port: number): Promise<string> {
  return `http://${await addressOf(server, host, port)}`;
}

/** Starts to listen and returns the address, e.g. `127.0.0.1:8080`. */
export function addressOf(server: AnyServer, host: string, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.removeListener("error", reject);
      const address = server.address();
      const bound = typeof address === "object" && address !== null ? address.port : port;
      resolve(`${reachable(host)}:${bound}`);
    });
  });
}

/** Ends a server with all its connections. */
export function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/** The host for clients: nobody can call a wildcard address. */
function reachable(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}
