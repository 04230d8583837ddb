import { z } from "zod";
import { type Clock, orAbort } from "../runtime/clock.ts";
import { unlessThrown } from "../runtime/unless-thrown.ts";
import { redact } from "./answer/redact.ts";
import { Refused } from "./refused.ts";
import type { UpstreamAnswer } from "./turn/upstream.ts";

const shape = z.object({ data: z.array(z.looseObject({ id: z.string() })) });
export type Model = z.infer<typeof shape>["data"][number];

const FRESH_MS = 60_000;
const LONGEST = 1_048_576;

/** The platform's list of models. It is the same for all namespaces, so one call per minute serves them all. */
export function createCatalogue(clock: Clock, ask: (signal: AbortSignal) => Promise<UpstreamAnswer>) {
  let known: { models: readonly Model[]; at: number } | undefined;
  let asking: Promise<readonly Model[]> | undefined;

  async function read(): Promise<readonly Model[]> {
    const timeout = AbortSignal.timeout(30_000);
    const silent = (error: unknown): never => {
      if (error instanceof Refused || !timeout.aborted) throw error;
      throw new Refused(502, "upstream_error", "the platform does not list its models", { retryAfter: 5 });
    };
    const { statusCode, body, opaque } = await ask(timeout).catch(silent);
    const text = redact(await bounded(body).catch(silent), opaque.secrets);
    if (statusCode !== 200)
      throw new Refused(502, "upstream_error", `the platform answered ${statusCode} to the list of models`);
    const list = listed(text);
    if (!list) throw new Refused(502, "upstream_error", "the platform's list of models cannot be read");
    known = { models: list, at: clock.monotonic() };
    return list;
  }

  // A caller that leaves ends its own wait, not the call that others wait for.
  return (signal: AbortSignal): Promise<readonly Model[]> => {
    if (known && clock.monotonic() - known.at < FRESH_MS) return Promise.resolve(known.models);
    asking ??= read().finally(() => {
      asking = undefined;
    });
    return orAbort(asking, signal);
  };
}

/** The models in an answer of the platform; undefined if it is not a list of models. */
const listed = (text: string): readonly Model[] | undefined => unlessThrown(() => shape.parse(JSON.parse(text)).data);

async function bounded(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > LONGEST) throw new Refused(502, "upstream_error", "the platform's list of models is too long");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
