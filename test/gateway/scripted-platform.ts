import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll } from "vitest";

export interface Seen {
  method: string | undefined;
  url: string | undefined;
  headers: IncomingMessage["headers"];
  body: string;
}

/** Answers one call with this body. */
export type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** A platform with answers that a test defines. */
export async function scriptedPlatform(first: Answer) {
  const seen: Seen[] = [];
  const platform = {
    seen,
    answer: first,
    upstream: "",
  };
  const server = createServer(async (request, response) => {
    const body = await text(request).catch(() => "");
    seen.push({ method: request.method, url: request.url, headers: request.headers, body });
    platform.answer(request, response, body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  platform.upstream = `http://127.0.0.1:${(server.address() as AddressInfo).port}/inference`;
  return platform;
}
