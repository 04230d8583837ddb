import { type RequestListener, type ServerResponse, STATUS_CODES } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { MetricsAccess } from "./metrics-access.ts";
import { type OpenServer, openServer } from "./open-server.ts";
import type { Pair } from "./serving-certificate.ts";

export interface Serving extends Pick<OpenServer, "url" | "renew"> {
  close(): Promise<void>;
}

export interface Protection {
  tls?: Pair | undefined;
  /** Checks access to the metrics; without it they are public. */
  access?: MetricsAccess | undefined;
}

/** The source of the metrics text, in chunks. */
export interface Scraped {
  readonly contentType: string;
  scrape(): AsyncIterable<string> | Iterable<string>;
}

/** Serves /metrics, /healthz (the process works) and /readyz (it leads or stands by, with synced caches). */
export async function serve(
  address: { host: string; port: number },
  metrics: Scraped,
  { ready, problem }: { ready: () => boolean; problem: () => string | undefined },
  { tls, access = async () => 200 }: Protection = {},
): Promise<Serving> {
  async function sendMetrics(authorization: string | undefined, response: ServerResponse): Promise<void> {
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
      // `pipeline` handles slow clients. When a client disconnects early, the response is destroyed.
      sendMetrics(request.headers.authorization, response).catch(() => response.destroy());
    } else text(404, "not found; available: /metrics, /healthz, /readyz");
  };
  const { server, url, renew, closeConnections } = await openServer(address, listener, tls);
  return {
    url,
    renew,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        closeConnections();
      }),
  };
}
