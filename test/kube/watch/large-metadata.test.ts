import { once } from "node:events";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { run } from "../../processes.ts";
import { listening } from "../scripted-server.ts";

const HEAP_MB = 64;
const COUNT = 320;
/** The API server accepts 256 KiB of annotations, and about a megabyte of everything else. */
const filler = "x".repeat(250_000);
const uid = "6c1cdd2c-1de3-4b94-a5e3-0f1ad9c4d9aa";

type Metadata = Record<string, unknown>;
const owner = (name: string) => ({ apiVersion: "mooring.dev/v1alpha1", kind: "Server", name, uid, controller: true });
const labels = {
  "app.kubernetes.io/managed-by": "mooring",
  "mooring.dev/output": "true",
  "mooring.dev/credentials": "true",
};

/** A server with this many objects of one type, each of the maximum size. */
async function serving(sort: string, metadata: Metadata, content: object): Promise<string> {
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://server");
    const write = async (text: string) => {
      if (!response.write(text)) await once(response, "drain");
    };
    response.on("error", () => {});
    if (!searchParams.has("sendInitialEvents")) return response.flushHeaders();
    for (let nth = 0; nth < (pathname.endsWith(`/${sort}`) ? COUNT : 0); nth++) {
      const name = `hostile-${nth}`;
      const meta = { name, namespace: "tenant", uid: `uid-${nth}`, resourceVersion: String(nth + 1), labels };
      const object = { apiVersion: "v1", kind: "Any", metadata: { ...meta, ...metadata }, ...content };
      await write(`${JSON.stringify({ type: "ADDED", object })}\n`);
    }
    const end = { resourceVersion: "9999", annotations: { "k8s.io/initial-events-end": "true" } };
    return write(`${JSON.stringify({ type: "BOOKMARK", object: { metadata: end } })}\n`);
  });
  const url = await listening(server);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return url;
}

const child = fileURLToPath(new URL("small-heap.ts", import.meta.url));
async function taking(url: string, door: string): Promise<{ code: number; said: string }> {
  const { code, stdout } = await run(process.execPath, [`--max-old-space-size=${HEAP_MB}`, child, url, door]);
  return { code, said: stdout.trim() };
}

const annotations = { note: filler };
const many = Object.fromEntries(Array.from({ length: 1000 }, (_, nth) => [`mooring.dev/a-${nth}`, "x".repeat(250)]));

const patient = { timeout: 300_000 };

describe(`${COUNT} objects of a tenant, a quarter of a megabyte each, in a heap of ${HEAP_MB} MB`, patient, () => {
  test.each<[string, string, string, Metadata, object]>([
    ["ConfigMaps with Mooring's label", "published", "configmaps", { annotations }, {}],
    [
      "ConfigMaps that say they belong to an object of Mooring",
      "published",
      "configmaps",
      { ownerReferences: [owner("web")] },
      { data: { large: filler } },
    ],
    [
      "Secrets with a note of Mooring's that is too long",
      "published",
      "secrets",
      { annotations: { "mooring.dev/published": filler }, ownerReferences: [owner("web")] },
      {},
    ],
    ["with annotations of Mooring's in numbers", "objects", "datacenters", { annotations: many }, { spec: {} }],
    ["of a kind of Mooring, with annotations of others", "objects", "datacenters", { annotations }, { spec: {} }],
    [
      "with owners whose names have no end",
      "published",
      "secrets",
      { ownerReferences: [owner(filler)] },
      { data: { key: "eA==" } },
    ],
    [
      "with finalizers in numbers",
      "objects",
      "datacenters",
      { finalizers: Array.from({ length: 1000 }, (_, nth) => `example.dev/${"f".repeat(240)}-${nth}`) },
      { spec: {} },
    ],
    ["Secrets with the label of credentials", "credentials", "secrets", { annotations }, { data: { token: filler } }],
    ["namespaces", "namespaces", "namespaces", { namespace: undefined, annotations }, {}],
  ])("%s do not fill it", async (_, door, sort, metadata, content) => {
    expect(await taking(await serving(sort, metadata, content), door)).toEqual({ code: 0, said: "taken in" });
  });
});
