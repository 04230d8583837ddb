import type { Dispatcher } from "undici";
import type { Answer } from "../answers/answer.ts";
import { inBytes, LimitExceeded, limits } from "../answers/limits.ts";

export interface Outgoing {
  readonly method: string;
  readonly url: URL;
  readonly headers: Record<string, string>;
  readonly body?: string | Uint8Array | undefined;
}

/** The exchange ended without a complete answer. `sent` is false only when not a byte of the request can have left. */
export class NoAnswer extends Error {
  readonly sent: boolean;
  /** True when the connection broke before any of the answer arrived: what an outdated keep-alive socket looks like. */
  readonly reset: boolean;
  /** Of an answer that is too large; else 0. */
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
 * Sends one request and reads the whole answer. Rejects with `NoAnswer` only: when the connection fails, when the
 * answer is larger than `maxBytes`, when `grow`, which hears of every piece of it, throws, or as soon as the signal aborts, whether or not a connection stands by then. An answer
 * that refuses is cut where it is too long, for its status is what counts. What is too much is not read: the connection
 * ends.
 *
 * It speaks to the dispatcher itself because only there the moment is known at which a request begins to leave.
 */
export function exchange(
  dispatcher: Dispatcher,
  outgoing: Outgoing,
  maxBytes: number,
  signal: AbortSignal,
  grow: (bytes: number) => void = () => {},
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
          headers = plain(received);
          // To HEAD it tells what a GET would bring.
          if (outgoing.method !== "HEAD" && Number(headers["content-length"]) > most()) cut(receiving);
        },
        onResponseData(receiving, chunk) {
          size += chunk.length;
          if (size > most()) return cut(receiving);
          try {
            grow(chunk.length);
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

function plain(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name.toLowerCase(), Array.isArray(value) ? value.join(", ") : value]],
    ),
  );
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error("aborted", { cause: reason });
}
