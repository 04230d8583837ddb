import type { Buckets } from "../faults/rate-limit.ts";
import type { Call, Method, Reply, Route } from "../http/exchange.ts";
import { Refusal } from "../http/refusal.ts";
import { limitsOf } from "../records/limits.ts";
import type { World } from "../world.ts";
import { chat } from "./chat.ts";
import { complete } from "./completion.ts";
import { embed } from "./embedding.ts";
import { draw } from "./image.ts";
import { modelOf, models, shown } from "./models.ts";
import { inferencePayload, refusal } from "./refusal.ts";

/** Calls carry pictures, as data. */
const largestBody = 8 * 1024 * 1024;

export const inferenceEndpoint = (api: string) => `${api}/inference`;

/** Models behind the interface that clients of chat-completion APIs know. Nothing of a call is kept. */
export function inferenceRoutes(world: World, buckets: Buckets): Route[] {
  const rate = (path: string) => {
    const { inference } = limitsOf(world);
    return path.startsWith("/images")
      ? { perSecond: inference.imagesPerMinute / 60, burst: inference.imagesBurst }
      : { perSecond: inference.perSecond, burst: inference.burst };
  };

  /** Counts the call, whatever its result, and shows the limits in every answer. */
  function limited(path: string, work: () => Reply): Reply {
    const limit = rate(path);
    const bucket = `${world.contractNumber}${path.startsWith("/images") ? "/images" : ""}`;
    const { wait, left } = buckets.take(bucket, limit);
    const headers = {
      "x-ratelimit-limit": String(limit.perSecond),
      "x-ratelimit-remaining": String(left),
      "x-ratelimit-burst": String(limit.burst),
    };
    if (wait > 0) {
      const again = { ...headers, "Retry-After": String(wait) };
      throw refusal(429, "rate_limit_exceeded", `The rate limit is exceeded; try again in ${wait} s`, null, again);
    }
    try {
      const reply = work();
      return { ...reply, headers };
    } catch (error) {
      if (error instanceof Refusal) Object.assign(error.headers, headers);
      throw error;
    }
  }

  const route = (method: Method, path: string, work: (call: Call) => Reply): Route => ({
    method,
    template: `/inference/v1${path}`,
    access: "user",
    payload: inferencePayload,
    mostText: largestBody,
    handle(call) {
      if (call.caller.tokenId === null) throw refusal(401, "invalid_api_key", "Send a bearer token");
      return limited(path, () => work(call));
    },
  });

  return [
    route("GET", "/models", () => ({ status: 200, body: { object: "list", data: models.map(shown) } })),
    route("GET", "/models/{modelId}", ({ params }) => ({ status: 200, body: shown(modelOf(params.modelId ?? "")) })),
    route("POST", "/chat/completions", (call) => chat(world, call)),
    route("POST", "/completions", (call) => complete(world, call)),
    route("POST", "/embeddings", (call) => embed(world, call)),
    route("POST", "/images/generations", draw),
  ];
}
