import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { closeServer, listenOn } from "../http/serve.ts";
import type { S3Call, S3Reply, S3User } from "./call.ts";
import { Fault, fault } from "./fault.ts";
import { verified } from "./request/signature.ts";
import { queryIn, type Target, targetOf } from "./request/target.ts";
import { type Xml, xmlDocument } from "./xml/xml.ts";

export interface ServerParts {
  /** The secret and the user of an active key. */
  keyOf(accessKey: string): { secretKey: string; user: S3User } | undefined;
  answer(call: S3Call, target: Target): S3Reply | Promise<S3Reply>;
  /** The machine's time. */
  now(): number;
  onError(where: string, error: unknown): void;
}

/** The HTTP side of the storage: checks signatures, answers with XML and streams. */
export function createS3Server({ keyOf, answer, now, onError }: ServerParts) {
  const server = createServer({ keepAliveTimeout: 90_000 }, (request, response) => {
    // A broken connection ends only its own call.
    response.on("error", () => {});
    request.on("error", () => {});
    respond(request, response).catch(() => response.destroy());
  });

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const id = randomBytes(8).toString("hex").toUpperCase();
    let reply: S3Reply;
    try {
      const target = targetOf(request.url ?? "/");
      reply = await answer(signedCall(request, target), target);
    } catch (error) {
      if (request.destroyed && !request.complete) return;
      if (!(error instanceof Fault)) onError(`object storage: ${request.method}`, error);
      reply = faultReply(
        error instanceof Fault ? error : fault("InternalError", "The object storage failed"),
        request,
        id,
      );
    }
    try {
      await send(request, response, reply, id);
    } finally {
      reply.stream?.destroy();
    }
  }

  function signedCall(request: IncomingMessage, target: Target): S3Call {
    const signable = { method: request.method ?? "", target, headers: request.headersDistinct };
    const signed = verified(signable, (accessKey) => keyOf(accessKey)?.secretKey, now());
    const user = keyOf(signed.accessKey)?.user;
    if (user === undefined) throw fault("InvalidAccessKeyId", "The access key does not exist or is not active");
    return {
      request,
      signed,
      user,
      query: queryIn(target),
      header: (name) => request.headersDistinct[name]?.join(","),
    };
  }

  return {
    listen: (host: string, port: number) => listenOn(server, host, port),
    close: () => closeServer(server),
  };
}

async function send(request: IncomingMessage, response: ServerResponse, reply: S3Reply, id: string): Promise<void> {
  const content = reply.xml === undefined ? (reply.text?.content ?? "") : xmlDocument(reply.xml);
  const text = request.method === "HEAD" ? "" : content;
  response.writeHead(reply.status, {
    "x-amz-request-id": id,
    ...(reply.xml !== undefined && { "content-type": "application/xml" }),
    ...(reply.text !== undefined && { "content-type": reply.text.type }),
    ...(reply.stream === undefined && request.method !== "HEAD" && bodyLength(reply.status, text)),
    ...reply.headers,
  });
  if (reply.stream === undefined) response.end(text);
  else await pipeline(reply.stream, response);
}

const bodyLength = (status: number, text: string) =>
  status === 204 || status === 304 ? {} : { "content-length": Buffer.byteLength(text) };

function faultReply({ status, code, message, details }: Fault, { url = "" }: IncomingMessage, id: string): S3Reply {
  const elements: Xml[] = [
    ["Code", code],
    ["Message", message],
    ...Object.entries(details),
    ["Resource", url.split("?")[0] ?? ""],
    ["RequestId", id],
    ["HostId", "simulator"],
  ];
  const headers: Record<string, string> = {};
  if (code === "InvalidRange") headers["content-range"] = `bytes */${details.ActualObjectSize}`;
  return { status, headers, xml: ["Error", elements] };
}
