import { setTimeout as delay } from "node:timers/promises";
import { KubeError } from "../../kube/client/errors.ts";
import type { KubeClient } from "../../kube/client/transport.ts";

interface Patience {
  /** Gets one line when answers begin to fail, and one when they come again. */
  tell: (text: string) => void;
  /** Its reason is the error that ends the repetition. */
  until: AbortSignal;
  pauseMs?: number;
}

/** Whether the API server gave no answer of its own: it is overloaded or still starts, and the call may work later. */
const isOverload = (error: unknown): error is KubeError =>
  error instanceof KubeError && (error.status === 0 || error.status === 429 || error.status >= 500);

/** A client that repeats a call until the API server answers it: on a busy machine that may take longer than its deadline. */
export function patient(client: KubeClient, { tell, until, pauseMs = 1000 }: Patience): KubeClient {
  let isLate = false;
  return {
    ...client,
    async request<T>(call: Parameters<KubeClient["request"]>[0]): Promise<T> {
      for (;;) {
        try {
          const answer = await client.request<T>(call);
          if (isLate) tell("kubernetes   answers again");
          isLate = false;
          return answer;
        } catch (error) {
          until.throwIfAborted();
          if (!isOverload(error)) throw error;
          if (!isLate) tell(`kubernetes   no answer yet, trying again: ${error.message}`);
          isLate = true;
        }
        await delay(pauseMs, undefined, { signal: until }).catch(() => until.throwIfAborted());
      }
    },
  };
}
