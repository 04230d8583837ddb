import type { Clock } from "../../runtime/clock.ts";
import { yieldIfDue } from "../../runtime/time-slices.ts";
import { KubeError } from "../client/errors.ts";
import type { KubeCall, KubeClient } from "../client/transport.ts";

/**
 * The chunks of a stream. Fails with a KubeError when nothing arrives for `silenceMs`, headers included: a connection whose
 * peer vanished would otherwise stay open forever.
 */
export async function* listen(
  client: KubeClient,
  call: KubeCall,
  { clock, silenceMs, signal }: { clock: Clock; silenceMs: number; signal: AbortSignal },
): AsyncGenerator<Uint8Array, void, undefined> {
  const controller = new AbortController();
  const stop = () => controller.abort(signal.reason);
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  let heardAt = clock.monotonic();
  const check = () => {
    const left = heardAt + silenceMs - clock.monotonic();
    if (left > 0) cancel = clock.after(left, check);
    else controller.abort(silent(call, silenceMs));
  };
  let cancel = clock.after(silenceMs, check);
  try {
    for await (const chunk of await client.stream({ ...call, signal: controller.signal })) {
      heardAt = clock.monotonic();
      yield chunk;
      await yieldIfDue(clock);
    }
  } finally {
    cancel();
    signal.removeEventListener("abort", stop);
  }
}

const silent = (call: KubeCall, ms: number) =>
  new KubeError({ status: 0, reason: "Silent", message: `${call.method} ${call.path}: silent for ${ms / 1000} s` });
