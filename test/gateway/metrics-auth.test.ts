import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { pino } from "pino";
import { afterAll, expect, it, vi } from "vitest";
import { stringify } from "yaml";
import { readConfig } from "../../src/gateway/config.ts";
import { runGateway } from "../../src/gateway/start.ts";
import { temporaryFolder } from "../../src/simulator/programs/swept.ts";
import { secureFetch } from "../operator/secure-fetch.ts";

/** An API server that knows the tokens `scraper`, which may get /metrics, and `tenant`, which may not. */
const api = createServer(async (request, response) => {
  const { spec } = Object(await json(request));
  const isKnown = ["scraper", "tenant"].includes(spec.token);
  const status = request.url?.endsWith("/tokenreviews")
    ? { authenticated: isKnown, user: isKnown ? { username: spec.token } : {} }
    : { allowed: spec.user === "scraper" && spec.nonResourceAttributes.path === "/metrics" };
  response.end(JSON.stringify({ status }));
});
api.listen(0, "127.0.0.1");
await once(api, "listening");
const folder = temporaryFolder("gateway-metrics");
afterAll(async () => {
  api.closeAllConnections();
  api.close();
  await folder.remove();
});
const file = (name: string, content: string) => {
  const path = join(folder.path, name);
  writeFileSync(path, content);
  return path;
};
const kubeconfig = {
  "current-context": "test",
  contexts: [{ name: "test", context: { cluster: "test", user: "test" } }],
  clusters: [{ name: "test", cluster: { server: `http://127.0.0.1:${(api.address() as AddressInfo).port}` } }],
  users: [{ name: "test", user: { token: "test" } }],
};

it("with --metrics-auth, metrics are served over TLS to who may get them, and health to everybody", async () => {
  const config = readConfig([
    ...["--metrics-auth", "--upstream", "http://127.0.0.1:1", "--token-file", file("token", "x")],
    ...["--kubeconfig", file("kubeconfig", stringify(kubeconfig)), "--access-file", file("accesses", "[]")],
  ]);
  if (config === "help") throw new Error("no configuration");
  const lines: { msg: string; metrics?: string }[] = [];
  const log = pino({}, { write: (line) => void lines.push(JSON.parse(line)) });
  const stopping = new AbortController();
  const ended = runGateway(config, log, stopping.signal);
  try {
    const serving = await vi.waitUntil(() => lines.find(({ msg }) => msg === "serving"), { timeout: 30_000 });
    const get = (path: string, token?: string) =>
      secureFetch(serving.metrics + path, token === undefined ? {} : { authorization: `Bearer ${token}` });
    expect(serving.metrics).toMatch(/^https:/);
    expect(await get("/metrics")).toMatchObject({ status: 401, challenge: "Bearer" });
    expect(await get("/metrics", "garbage")).toMatchObject({ status: 401 });
    const refused = await get("/metrics", "tenant");
    expect(refused).toMatchObject({ status: 403 });
    expect(refused.text).not.toContain("mooring_gateway");
    const reported = await get("/metrics", "scraper");
    expect(reported).toMatchObject({ status: 200, text: expect.stringContaining("mooring_gateway_open_requests 0") });
    for (const path of ["/healthz", "/readyz"]) expect(await get(path)).toMatchObject({ status: 200 });
  } finally {
    stopping.abort();
    await ended;
  }
});
