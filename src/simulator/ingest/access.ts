import type { Call } from "../http/exchange.ts";
import { errorCode, refusal } from "../http/refusal.ts";
import { unauthorized } from "../identity/identity.ts";
import { type Pipeline, type Product, pipelineByKey, takesData } from "../records/pipelines.ts";
import type { Contracts, World } from "../world.ts";

/**
 * The pipeline of `{pipelineId}`, of any contract, for a call with its key. Throws 401 without a valid key, 403 with
 * the key of another pipeline, 503 until it is ready.
 */
export function admitted(contracts: Contracts, product: Product, call: Call): { world: World; pipeline: Pipeline } {
  const key = keyIn(call);
  if (key === undefined) throw unauthorized("The key is missing: send it as the header APIKEY");
  for (const world of contracts.all()) {
    const pipeline = pipelineByKey(world, product, key);
    if (pipeline === undefined) continue;
    if (pipeline.id === call.params.pipelineId) {
      if (takesData(pipeline)) return { world, pipeline };
      throw refusal(503, errorCode.refused, "The pipeline is being provisioned: try again", { "Retry-After": "1" });
    }
    throw refusal(403, errorCode.denied, "Access denied: the key belongs to another pipeline");
  }
  throw unauthorized("The key is not valid: it is wrong, was replaced, or its pipeline is deleted");
}

/** Agents send the key in a header of its own or, where they know only that one, as bearer token. */
function keyIn({ headers }: Call): string | undefined {
  const { apikey, authorization } = headers;
  return apikey === undefined ? /^bearer +(\S+)$/i.exec(authorization ?? "")?.[1] : String(apikey);
}
