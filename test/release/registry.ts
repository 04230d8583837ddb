import { createHash, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";

export interface TestRegistry {
  /** Host and port. */
  host: string;
  /** Tags and digests by repository and reference, for example "mooring/mooring:0.1.0". */
  manifests: Map<string, Buffer>;
  /** Method and path of each request. */
  requests: string[];
  close(): Promise<void>;
}

const digestOf = (content: Buffer) => `sha256:${createHash("sha256").update(content).digest("hex")}`;
const USER = `Basic ${Buffer.from("robot:secret").toString("base64")}`;
const TOKEN = "Bearer token-of-the-registry";

/**
 * The parts of a registry that push and pull need. It refuses references to missing content and wrong digests. With
 * `auth` it asks for a password, or for a token that it issues for that password.
 */
export async function startRegistry(auth?: "basic" | "bearer"): Promise<TestRegistry> {
  const blobs = new Map<string, Buffer>();
  const types = new Map<string, string>();
  const manifests = new Map<string, Buffer>();
  const requests: string[] = [];
  let host = "";

  const answer = (response: ServerResponse, status: number, headers: Record<string, string> = {}, body?: Buffer) =>
    response.writeHead(status, headers).end(body);

  /** Whether the caller is authorized; otherwise sends the challenge. */
  const admitted = (request: IncomingMessage, response: ServerResponse): boolean => {
    if (!auth || request.headers.authorization === (auth === "basic" ? USER : TOKEN)) return true;
    const challenge = auth === "basic" ? 'Basic realm="test"' : `Bearer realm="http://${host}/token",service="test"`;
    answer(response, 401, { "www-authenticate": challenge });
    return false;
  };

  const named = (body: Buffer): string[] =>
    [...body.toString("utf8").matchAll(/"digest":"(sha256:[0-9a-f]{64})"/g)].map(([, digest = ""]) => digest);

  const putManifest = (response: ServerResponse, name: string, reference: string, body: Buffer, type: string) => {
    const missing = named(body).filter((digest) => !blobs.has(digest) && !manifests.has(`${name}@${digest}`));
    if (missing.length > 0) return answer(response, 404, {}, Buffer.from(`unknown: ${missing.join(", ")}`));
    const digest = digestOf(body);
    for (const key of [`${name}@${digest}`, ...(reference === digest ? [] : [`${name}:${reference}`])]) {
      manifests.set(key, body);
      types.set(key, type);
    }
    return answer(response, 201, { "docker-content-digest": digest });
  };

  const read = (response: ServerResponse, method: string, content: Buffer | undefined, type: string) => {
    if (content === undefined) return answer(response, 404);
    const headers = {
      "content-type": type,
      "content-length": String(content.length),
      "docker-content-digest": digestOf(content),
    };
    return answer(response, 200, headers, method === "HEAD" ? undefined : content);
  };

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    const { method = "", headers } = request;
    const url = new URL(request.url ?? "", `http://${host}`);
    requests.push(`${method} ${url.pathname}`);
    const body = await buffer(request);
    if (url.pathname === "/token") {
      if (headers.authorization !== USER) return answer(response, 401);
      return answer(response, 200, {}, Buffer.from(JSON.stringify({ token: TOKEN.replace("Bearer ", "") })));
    }
    if (!admitted(request, response)) return undefined;
    if (url.pathname === "/v2/") return answer(response, 200);
    const [, name = "", part = "", reference = ""] = /^\/v2\/(.+)\/(manifests|blobs)\/(.*)$/.exec(url.pathname) ?? [];
    if (part === "manifests") {
      const key = reference.startsWith("sha256:") ? `${name}@${reference}` : `${name}:${reference}`;
      const type = headers["content-type"] ?? "";
      if (method === "PUT") return putManifest(response, name, reference, body, type);
      return read(response, method, manifests.get(key), types.get(key) ?? "");
    }
    if (method === "POST")
      return answer(response, 202, { location: `/v2/${name}/blobs/uploads/${randomUUID()}?state=x` });
    if (method !== "PUT") return read(response, method, blobs.get(reference), "application/octet-stream");
    const digest = url.searchParams.get("digest") ?? "";
    if (digestOf(body) !== digest) return answer(response, 400, {}, Buffer.from("the digest is another one"));
    blobs.set(digest, body);
    return answer(response, 201);
  }

  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the registry has no port");
  host = `127.0.0.1:${address.port}`;
  return {
    host,
    manifests,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
