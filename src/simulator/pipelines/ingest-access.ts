import type { Call } from "../http/exchange.ts";
import { errorCode, refusal } from "../http/refusal.ts";
import type { World } from "../world.ts";
import { type Pipeline, type Product, pipelineByKey } from "./records.ts";

/** The pipeline of `{pipelineId}` for a call that brings its key; throws 401 without a good key, 403 with another's. */
export function admitted(world: World, product: Product, call: Call): Pipeline {
  const key = keyIn(call);
  if (key === undefined) throw unauthorized("The key is missing: send it as the header APIKEY");
  const pipeline = pipelineByKey(world, product, key);
  if (pipeline === undefined)
    throw unauthorized("The key is not valid: it is wrong, was replaced, or its pipeline went");
  if (pipeline.id === call.params.pipelineId) return pipeline;
  throw refusal(403, errorCode.denied, "Access denied: the key belongs to another pipeline");
}

/** Agents send the key in a header of its own or, where they know only that one, as bearer token. */
function keyIn({ headers }: Call): string | undefined {
  const { apikey, authorization } = headers;
  return apikey === undefined ? /^bearer +(\S+)$/i.exec(authorization ?? "")?.[1] : String(apikey);
}

const unauthorized = (message: string) =>
  refusal(401, errorCode.unauthorized, message, { "WWW-Authenticate": "Bearer" });
