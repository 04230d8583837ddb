import { createServer, type RequestListener } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Pair } from "../operator/serving-certificate.ts";
import type { Handler } from "./handler.ts";
import { Refused } from "./refused.ts";

export interface GatewayServer {
  url: string;
  /** Calls that are not answered to their end. */
  open(): number;
  /** Takes no new call, lets those end that are open, and breaks off what is left when `signal` aborts. */
  drain(signal: AbortSignal): Promise<void>;
  /** Serves with another certificate from now on. */
  renew(tls: Pair): void;
}

/** A client has so long for its headers, and for all of its request. */
const limits = {
  maxHeaderSize: 16_384,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 2_000,
  keepAliveTimeout: 60_000,
};

export async function listen(
  { host, port }: { host: string; port: number },
  handle: Handler,
  tls: Pair | undefined,
): Promise<GatewayServer> {
  const calls = new Map<AbortController, Promise<void>>();
  let draining = false;
  const listener: RequestListener = (request, response) => {
    response.on("error", () => {});
    if (draining) {
      const refused = new Refused(503, "unavailable", "the gateway is stopping", { retryAfter: 1 });
      response
        .writeHead(503, { "content-type": "application/json", ...refused.headers, connection: "close" })
        .end(refused.body);
      return;
    }
    const controller = new AbortController();
    response.once("close", () => {
      if (!response.writableFinished) controller.abort(new Error("the client left"));
    });
    const call = handle(request, response, controller.signal).finally(() => calls.delete(controller));
    calls.set(controller, call);
  };
  const secure = tls && createSecureServer({ ...limits, ...tls }, listener);
  const server = secure ?? createServer(limits, listener);
  server.maxHeadersCount = 64;
  server.maxConnections = 10_000;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const address = server.address() as AddressInfo;
  return {
    url: `${secure ? "https" : "http"}://${host.includes(":") ? `[${host}]` : host}:${address.port}`,
    open: () => calls.size,
    renew: (pair) => secure?.setSecureContext(pair),
    async drain(signal) {
      draining = true;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const breakOff = () => {
        for (const controller of calls.keys()) controller.abort(new Error("the gateway is stopping"));
        server.closeAllConnections();
      };
      if (signal.aborted) breakOff();
      signal.addEventListener("abort", breakOff, { once: true });
      await Promise.all(calls.values());
      server.closeIdleConnections();
      await closed;
    },
  };
}
