import { type RequestListener, type ServerResponse, STATUS_CODES } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { MetricsAccess } from "./metrics-access.ts";
import { type OpenServer, openServer } from "./open-server.ts";
import type { Pair } from "./serving-certificate.ts";

export interface Serving extends Omit<OpenServer, "server"> {
  close(): Promise<void>;
}

export interface Protection {
  tls?: Pair | undefined;
  /** Who may read the metrics; everybody without it. */
  access?: MetricsAccess | undefined;
}

/** What Prometheus reads, a piece at a time. */
export interface Scraped {
  readonly contentType: string;
  scrape(): AsyncIterable<string> | Iterable<string>;
}

/** Metrics and health: /metrics, /healthz (the process works) and /readyz (it leads, or stands by, with full caches). */
export async function serve(
  address: { host: string; port: number },
  metrics: Scraped,
  { ready, problem }: { ready: () => boolean; problem: () => string | undefined },
  { tls, access = async () => 200 }: Protection = {},
): Promise<Serving> {
  async function tell(authorization: string | undefined, response: ServerResponse): Promise<void> {
    const verdict = await access(authorization);
    if (verdict === 200) {
      response.writeHead(200, { "content-type": metrics.contentType });
      return pipeline(Readable.from(metrics.scrape()), response);
    }
    if (verdict === 401) response.setHeader("www-authenticate", "Bearer");
    response.writeHead(verdict, { "content-type": "text/plain" }).end(STATUS_CODES[verdict]);
  }
  const listener: RequestListener = (request, response) => {
    const path = request.url?.split("?")[0];
    const text = (status: number, body: string) => {
      response.writeHead(status, { "content-type": "text/plain" }).end(body);
    };
    if (path === "/healthz") text(problem() === undefined ? 200 : 503, problem() ?? "ok");
    else if (path === "/readyz") text(ready() ? 200 : 503, ready() ? "ok" : "not ready");
    else if (path === "/metrics") {
      // Whoever goes away before the end, or reads slowly, is the stream's business.
      tell(request.headers.authorization, response).catch(() => response.destroy());
    } else text(404, "there is /metrics, /healthz and /readyz");
  };
  const { server, ...open } = await openServer(address, listener, tls);
  return {
    ...open,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
