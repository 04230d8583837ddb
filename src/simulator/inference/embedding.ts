import { createHash } from "node:crypto";
import type { Call, Reply } from "../http/exchange.ts";
import type { World } from "../world.ts";
import { bodyOf, embeddingBody } from "./body.ts";
import { checkContext, countTokens, dimensions, modelOf } from "./models.ts";
import { refusal } from "./refusal.ts";

export function embed(world: World, call: Call): Reply {
  const body = bodyOf(embeddingBody, call.body);
  const model = modelOf(body.model, "embedding");
  if (body.dimensions !== undefined && body.dimensions !== dimensions) {
    throw refusal(400, "invalid_value", `The model ${model.id} has ${dimensions} dimensions`, "dimensions");
  }
  const inputs = [body.input].flat();
  const counts = inputs.map(countTokens);
  for (const count of counts) checkContext(model, count, 0, "input");
  const total = counts.reduce((sum, count) => sum + count, 0);
  world.billing.tokens(model.id, { input: total, output: 0 });
  const encode = (vector: Float32Array) =>
    body.encoding_format === "float" ? [...vector] : Buffer.from(vector.buffer).toString("base64");
  return {
    status: 200,
    body: {
      object: "list",
      model: model.id,
      data: inputs.map((text, index) => ({
        object: "embedding",
        index,
        embedding: encode(vectorOf(model.id, text)),
      })),
      usage: { prompt_tokens: total, total_tokens: total },
    },
  };
}

/** A unit vector that follows from model and text alone: texts with words in common are closer together. */
function vectorOf(model: string, text: string): Float32Array {
  const sums = new Float32Array(dimensions);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+|[^\s\p{L}\p{N}]/gu) ?? [""]) {
    const bits = createHash("shake256", { outputLength: dimensions / 8 })
      .update(`${model}\n${word}`)
      .digest();
    for (const [at, sum] of sums.entries()) sums[at] = sum + (((bits[at >> 3] ?? 0) >> (at & 7)) & 1 ? 1 : -1);
  }
  const length = Math.hypot(...sums) || 1;
  return sums.map((sum) => sum / length);
}
