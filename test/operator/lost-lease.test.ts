import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { pino } from "pino";
import { afterEach, expect, test } from "vitest";
import { LeadershipLost } from "../../src/kube/lease/leadership-lost.ts";
import { readConfig } from "../../src/operator/config.ts";
import { runOperator } from "../../src/operator/start.ts";
import { onThisMachine } from "../cluster/chaos/operator.ts";
import { listening } from "../kube/scripted-server.ts";

const servers: Server[] = [];
let folder = "";
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
  await rm(folder, { recursive: true });
});

type Answer = (method: string, url: URL, response: ServerResponse, body: string) => void;

async function serve(answer: Answer): Promise<string> {
  const server = createServer(async (request, response) => {
    const body = await text(request);
    answer(request.method ?? "", new URL(request.url ?? "", "http://server"), response, body);
  });
  servers.push(server);
  return listening(server);
}

/** An API server with an Account. It stops answering as soon as another holder has the Lease. */
async function serveKubernetes(account: object, secret: object, isTaken: () => boolean): Promise<string> {
  const lease = (spec: object) => ({
    metadata: { name: "mooring", namespace: "default", uid: "u", resourceVersion: "1" },
    spec,
  });
  const end = { metadata: { resourceVersion: "9", annotations: { "k8s.io/initial-events-end": "true" } } };
  return serve((method, { pathname, searchParams }, response, body) => {
    const json = (status: number, body: object) => void response.writeHead(status).end(JSON.stringify(body));
    const refuse = (code: number, reason: string) => json(code, { kind: "Status", code, reason, message: reason });
    if (pathname.includes("/leases")) {
      if (isTaken())
        return method === "GET" ? json(200, lease({ holderIdentity: "another" })) : refuse(409, "Conflict");
      return method === "GET" ? refuse(404, "NotFound") : json(201, lease(JSON.parse(body).spec));
    }
    if (searchParams.get("watch")) {
      const event = (type: string, object: object) => response.write(`${JSON.stringify({ type, object })}\n`);
      if (pathname.endsWith("/accounts")) event("ADDED", account);
      if (searchParams.get("fieldSelector") === "metadata.name=cred") event("ADDED", secret);
      event("BOOKMARK", end);
    } else if (!isTaken()) json(200, pathname.includes("/secrets") ? secret : account);
  });
}

test("a process that lost its lease ends, whatever hangs at the platform and at the API server", {
  timeout: 20_000,
}, async () => {
  folder = await mkdtemp(join(tmpdir(), "lost-lease-"));
  let taken = false;
  const platform = await serve(() => {
    taken = true;
  });
  const metadata = (name: string) => ({ name, namespace: "shop", uid: name, resourceVersion: "5", generation: 1 });
  const account = {
    apiVersion: "mooring.dev/v1alpha1",
    kind: "Account",
    metadata: { ...metadata("main"), finalizers: ["mooring.dev/finalizer"] },
    spec: { endpoints: { api: platform }, credentialsSecretRef: { name: "cred" } },
  };
  const token = Buffer.from("token").toString("base64");
  const secret = { apiVersion: "v1", kind: "Secret", metadata: metadata("cred"), data: { token } };
  const kubeconfig = join(folder, "config");
  const server = await serveKubernetes(account, secret, () => taken);
  const config = {
    "current-context": "one",
    clusters: [{ name: "c", cluster: { server } }],
    contexts: [{ name: "one", context: { cluster: "c", user: "u" } }],
    users: [{ name: "u", user: {} }],
  };
  await writeFile(kubeconfig, JSON.stringify({ apiVersion: "v1", kind: "Config", ...config }));
  const read = readConfig(["--kubeconfig", kubeconfig, "--namespace", "default", ...onThisMachine]);
  if (read === "help") throw new Error("no help was asked for");
  const log = pino({ level: "silent" });
  await expect(runOperator(read, log, new AbortController().signal)).rejects.toBeInstanceOf(LeadershipLost);
});
