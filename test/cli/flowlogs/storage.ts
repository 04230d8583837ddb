import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { Readable } from "node:stream";

export const keys = { accessKey: "EXAMPLEACCESSKEY", secretKey: "example/secret+key" };

export interface Stored {
  lastModified?: string;
  /** The content; a function if it is made for each read. */
  body: Buffer | (() => Readable);
}

/** Object storage with one bucket, `logs`. It refuses requests that are not signed with `keys`. */
export interface Storage extends AsyncDisposable {
  readonly url: string;
  readonly objects: Map<string, Stored>;
  /** Every accepted request, by path and query. */
  readonly requests: string[];
  /** Number of requests with a wrong signature. */
  readonly refused: number;
  /** Returns an answer to send instead of the storage's, if any. */
  trouble: (url: URL) => { status: number; body: string } | undefined;
}

const EPOCH = "2026-01-01T00:00:00.000Z";

export async function startStorage(pageSize = 1000): Promise<Storage> {
  const objects = new Map<string, Stored>();
  const requests: string[] = [];
  let refused = 0;

  const listing = (query: URLSearchParams): string => {
    const after = query.get("continuation-token") ?? "";
    const found = [...objects.keys()].filter((key) => key.startsWith(query.get("prefix") ?? "") && key > after).sort();
    const page = found.slice(0, pageSize);
    const more =
      found.length > pageSize ? `<NextContinuationToken>${escaped(page.at(-1) ?? "")}</NextContinuationToken>` : "";
    const contents = page.map((key) => {
      const modified = `<LastModified>${objects.get(key)?.lastModified ?? EPOCH}</LastModified>`;
      return `<Contents><Key>${escaped(key)}</Key>${modified}<Size>1</Size></Contents>`;
    });
    const truncated = `<IsTruncated>${more !== ""}</IsTruncated>`;
    return `<?xml version="1.0"?><ListBucketResult><Name>logs</Name>${truncated}${more}${contents.join("")}</ListBucketResult>`;
  };

  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://storage");
    const answer = (status: number, body: string) => void response.writeHead(status).end(body);
    if (!isSigned(request, url)) {
      refused += 1;
      return answer(403, failure("SignatureDoesNotMatch"));
    }
    requests.push(request.url ?? "");
    const [, bucket, ...rest] = url.pathname.split("/").map(decodeURIComponent);
    const trouble = storage.trouble(url);
    if (trouble) return answer(trouble.status, trouble.body);
    if (bucket !== "logs") return answer(404, failure("NoSuchBucket"));
    if (rest.length === 0) return answer(200, listing(url.searchParams));
    const body = objects.get(rest.join("/"))?.body;
    if (body === undefined) return answer(404, failure("NoSuchKey"));
    if (Buffer.isBuffer(body)) return void response.end(body);
    body().pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("not listening on a port");
  const storage: Storage = {
    url: `http://127.0.0.1:${address.port}`,
    objects,
    requests,
    get refused() {
      return refused;
    },
    trouble: () => undefined,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return storage;
}

export const failure = (code: string) => `<Error><Code>${code}</Code><Message>as the test says</Message></Error>`;

const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

/** Checks the AWS Signature Version 4 of a request without a body. */
function isSigned(request: IncomingMessage, url: URL): boolean {
  const { headers, method = "" } = request;
  const form =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([\w-]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=([\da-f]{64})$/;
  const [, accessKey, day = "", region = "", names = "", signature = ""] = form.exec(headers.authorization ?? "") ?? [];
  if (accessKey !== keys.accessKey || !names.split(";").includes("host")) return false;
  const signed = names.split(";").map((name) => `${name}:${headers[name]}\n`);
  const query = url.search.slice(1).split("&").sort().join("&");
  const canonical = [method, url.pathname, query, signed.join(""), names, headers["x-amz-content-sha256"]].join("\n");
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = ["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, createHash("sha256").update(canonical).digest("hex")];
  const key = [day, region, "s3", "aws4_request"].reduce<string | Buffer>(
    (secret, part) => createHmac("sha256", secret).update(part).digest(),
    `AWS4${keys.secretKey}`,
  );
  const expected = createHmac("sha256", key).update(text.join("\n")).digest();
  return timingSafeEqual(expected, Buffer.from(signature, "hex"));
}
