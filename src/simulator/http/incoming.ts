import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Call, Route } from "./exchange.ts";
import { errorCode, refusal } from "./refusal.ts";

const largestBody = 1024 * 1024;

/** Splits path and query; accepts the absolute form that proxies send. */
export function targetOf(url: string): { path: string; query: URLSearchParams } {
  const relative = url.replace(/^https?:\/\/[^/?]*/i, "");
  const mark = relative.indexOf("?");
  const path = mark < 0 ? relative : relative.slice(0, mark);
  return { path: path || "/", query: new URLSearchParams(mark < 0 ? "" : relative.slice(mark + 1)) };
}

/** `http://host:port` as the caller wrote it, unless that cannot be a host. */
export function originOf({ headers: { host } }: IncomingMessage): string | undefined {
  return host !== undefined && /^[\w.\-[\]:]+$/.test(host) ? `http://${host}` : undefined;
}

const json = /^application\/([\w.-]+\+)?json\s*(;|$)/i;
const form = /^application\/x-www-form-urlencoded\s*(;|$)/i;

export const isJson = (headers: IncomingHttpHeaders) => json.test(headers["content-type"] ?? "");
export const isForm = (headers: IncomingHttpHeaders) => form.test(headers["content-type"] ?? "");

/**
 * The body: bytes on a route with `mostBytes`, else text. Refuses a body that is too large, and text whose type is
 * neither JSON nor, on a route with `takesForm`, a form.
 */
export async function readBody(
  request: IncomingMessage,
  { takesForm = false, mostBytes, mostText = largestBody }: Pick<Route, "takesForm" | "mostBytes" | "mostText"> = {},
): Promise<Pick<Call, "body" | "bytes">> {
  const most = mostBytes ?? mostText;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    // The rest is read and dropped, so that the answer reaches a caller that is still sending.
    if (size <= most) chunks.push(chunk);
  }
  if (size > most) throw refusal(413, errorCode.validation, `[(root)] the body is larger than ${most} bytes`);
  const bytes = Buffer.concat(chunks);
  if (mostBytes !== undefined) return { body: "", bytes };
  const type = request.headers["content-type"];
  if (size > 0 && type !== undefined && !json.test(type) && !(takesForm && form.test(type))) {
    throw refusal(415, errorCode.validation, "The body must be sent as Content-Type: application/json");
  }
  return { body: bytes.toString() };
}
