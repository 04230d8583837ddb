import type { Dispatcher } from "undici";
import type { Answer } from "../answers/answer.ts";
import { inBytes, LimitExceeded, limits } from "../answers/limits.ts";

export interface Outgoing {
  readonly method: string;
  readonly url: URL;
  readonly headers: Record<string, string>;
  readonly body?: string | Uint8Array | undefined;
}

/** The exchange ended without a complete answer. `sent` is false only when no byte of the request can have left. */
export class NoAnswer extends Error {
  readonly sent: boolean;
  /** True when the connection broke before any byte of the answer, as a stale keep-alive socket does. */
  readonly reset: boolean;
  /** The status of an answer that is too large; else 0. */
  readonly status: number;

  constructor(cause: unknown, sent: boolean, reset: boolean, status = 0) {
    super("no answer", { cause });
    this.name = "NoAnswer";
    this.sent = sent;
    this.reset = reset;
    this.status = status;
  }
}

/**
 * Sends one request and reads the whole answer. Rejects only with `NoAnswer`: when the connection fails, when the answer is
 * larger than `maxBytes`, when `countBytes`, which is called for every chunk, throws, or as soon as the signal aborts, connected
 * or not. An error answer that is too long is cut, because only its status is needed. What is too much is not read: the
 * connection is closed.
 *
 * It uses the dispatcher directly, because only there it is known when a request starts to leave.
 */
export function exchange(
  dispatcher: Dispatcher,
  outgoing: Outgoing,
  maxBytes: number,
  signal: AbortSignal,
  countBytes: (bytes: number) => void = () => {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined;
    let answering = false;
    let status = 0;
    let headers: Record<string, string> = {};
    let size = 0;
    const chunks: Buffer[] = [];

    const fail = (cause: unknown) => {
      signal.removeEventListener("abort", abort);
      const sent = controller !== undefined;
      reject(
        new NoAnswer(cause, sent, sent && !answering && !signal.aborted, cause instanceof LimitExceeded ? status : 0),
      );
    };
    const abort = () => {
      fail(signal.reason);
      controller?.abort(asError(signal.reason));
    };
    const end = () => {
      signal.removeEventListener("abort", abort);
      resolve({ status, headers, text: Buffer.concat(chunks).toString("utf8"), bytes: size });
    };
    const isRefusal = () => status < 200 || status > 299;
    const most = () => (isRefusal() ? limits.refusalBytes : maxBytes);
    const cut = (receiving: Dispatcher.DispatchController) => {
      size = Math.max(size, most() + 1);
      if (isRefusal()) end();
      receiving.abort(new LimitExceeded(`the answer is larger than ${inBytes(most())}`));
    };
    if (signal.aborted) return fail(signal.reason);
    signal.addEventListener("abort", abort, { once: true });

    const { method, url, body = null } = outgoing;
    const request = { origin: url.origin, path: url.pathname + url.search, method, headers: outgoing.headers, body };
    try {
      dispatcher.dispatch(request, {
        onRequestStart(started) {
          if (signal.aborted) return started.abort(asError(signal.reason));
          controller = started;
        },
        onResponseStart(receiving, statusCode, received) {
          if (statusCode < 200) return;
          answering = true;
          status = statusCode;
          headers = lowerCased(received);
          // For HEAD, content-length is the size that a GET would have.
          if (outgoing.method !== "HEAD" && Number(headers["content-length"]) > most()) cut(receiving);
        },
        onResponseData(receiving, chunk) {
          size += chunk.length;
          if (size > most()) return cut(receiving);
          try {
            countBytes(chunk.length);
            chunks.push(chunk);
          } catch (error) {
            receiving.abort(asError(error));
          }
        },
        onResponseEnd: end,
        onResponseError(_, error) {
          fail(error);
        },
      });
    } catch (error) {
      fail(error);
    }
  });
}

function lowerCased(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name.toLowerCase(), Array.isArray(value) ? value.join(", ") : value]],
    ),
  );
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error("aborted", { cause: reason });
}
