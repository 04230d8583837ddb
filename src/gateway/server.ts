import type { RequestListener } from "node:http";
import { type OpenServer, openServer } from "../server/open-server.ts";
import type { Pair } from "../server/serving-certificate.ts";
import type { Handler } from "./handler.ts";
import { Refused } from "./refused.ts";

export interface GatewayServer extends Pick<OpenServer, "url" | "renew"> {
  /** Number of calls without a complete answer. */
  open(): number;
  /** Accepts no new calls, waits for open ones, and cancels the rest when `signal` aborts. */
  drain(signal: AbortSignal): Promise<void>;
}

/** Twice those of the other servers: every workload of the cluster may call it. */
export const GATEWAY_CONNECTIONS = 2_000;

const limits = { maxHeaderSize: 16_384, keepAliveTimeout: 60_000 };

export async function listen(
  address: { host: string; port: number },
  handle: Handler,
  tls: Pair | undefined,
  mostConnections = GATEWAY_CONNECTIONS,
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
  const { server, url, renew, closeConnections } = await openServer(address, listener, tls, {
    ...limits,
    mostConnections,
  });
  server.maxHeadersCount = 64;
  // Without this, Node.js would ask for the body before the caller is checked.
  server.on("checkContinue", (request, response) => server.emit("request", request, response));
  return {
    url,
    renew,
    open: () => calls.size,
    async drain(signal) {
      draining = true;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const breakOff = () => {
        for (const controller of calls.keys()) controller.abort(new Error("the gateway is stopping"));
        closeConnections();
      };
      if (signal.aborted) breakOff();
      signal.addEventListener("abort", breakOff, { once: true });
      await Promise.all(calls.values());
      server.closeIdleConnections();
      await closed;
    },
  };
}
