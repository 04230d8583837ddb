import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";
import type { Deadline } from "./deadline.ts";

/** An HTTP answer whose body was read. */
export interface Answer {
  statusCode: number;
  headers: IncomingHttpHeaders;
  text: string;
}

/**
 * Sends a request and collects the answer. Without a stream and a signal for each call, which cost more than the call itself.
 * Rejects with the error of the deadline when that ends the call.
 */
export function exchangeWhole(
  agent: Dispatcher,
  request: Dispatcher.DispatchOptions,
  deadline: Pick<Deadline, "onEnd">,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let ended: Error | undefined;
    let abort: ((reason: Error) => void) | undefined;
    const forget = deadline.onEnd((error) => {
      ended = error;
      abort?.(error);
      // undici reports an abort only once it is connected.
      reject(error);
    });
    if (ended) return;
    const chunks: Buffer[] = [];
    const head: Pick<Answer, "statusCode" | "headers"> = { statusCode: 0, headers: {} };
    agent.dispatch(request, {
      onRequestStart(controller) {
        if (ended) controller.abort(ended);
        else abort = (reason) => controller.abort(reason);
      },
      onResponseStart(_, statusCode, headers) {
        Object.assign(head, { statusCode, headers });
      },
      onResponseData(_, chunk) {
        chunks.push(chunk);
      },
      onResponseEnd() {
        forget();
        resolve({ ...head, text: Buffer.concat(chunks).toString() });
      },
      onResponseError(_, error) {
        forget();
        reject(error);
      },
    });
  });
}
