import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Metrics } from "./metrics.ts";

export interface Serving {
  url: string;
  close(): Promise<void>;
}

/** Metrics and health: /metrics, /healthz (the process works) and /readyz (it leads, or stands by, with full caches). */
export async function serve(
  { host, port }: { host: string; port: number },
  metrics: Pick<Metrics, "scrape" | "contentType">,
  { ready, problem }: { ready: () => boolean; problem: () => string | undefined },
): Promise<Serving> {
  const server = createServer((request, response) => {
    const path = request.url?.split("?")[0];
    const text = (status: number, body: string, type = "text/plain") => {
      response.writeHead(status, { "content-type": type }).end(body);
    };
    if (path === "/healthz") text(problem() === undefined ? 200 : 503, problem() ?? "ok");
    else if (path === "/readyz") text(ready() ? 200 : 503, ready() ? "ok" : "not ready");
    else if (path === "/metrics") {
      response.writeHead(200, { "content-type": metrics.contentType });
      // Whoever goes away before the end, or reads slowly, is the stream's business.
      pipeline(Readable.from(metrics.scrape()), response).catch(() => response.destroy());
    } else text(404, "there is /metrics, /healthz and /readyz");
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const address = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${address.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
