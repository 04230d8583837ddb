import { z } from "zod";
import { nearest } from "./nearest.ts";
import { publishedPrices } from "./prices.ts";

const price = z.looseObject({ input_per_million_tokens: z.number(), output_per_million_tokens: z.number() });
const model = z.looseObject({
  id: z.string(),
  context_window: z.int().min(0).optional().catch(undefined),
  pricing: price.optional().catch(undefined),
});
const answer = z.looseObject({ data: z.array(model) });

export const modelStatus = z.object({
  id: z.string().describe("Id of the model."),
  contextTokens: z.int().optional().describe("Maximum tokens of a call, prompt and answer together."),
  inputEurPerMillion: z.number().optional().describe("Price of a million input tokens in EUR, if published."),
  outputEurPerMillion: z.number().optional().describe("Price of a million output tokens in EUR, if published."),
});

/** The models with these ids in the platform's list, or a message about the first missing one. */
export function modelsIn(
  body: unknown,
  ids: readonly string[],
): { models: z.output<typeof modelStatus>[] } | { problem: string } {
  const byId = new Map(answer.parse(body).data.map((each) => [each.id, each]));
  const missing = ids.find((id) => !byId.has(id));
  if (missing !== undefined) return { problem: unknownModel(missing, [...byId.keys()]) };
  const models = ids.map((id) => {
    const { context_window: contextTokens, pricing } = byId.get(id) ?? {};
    const [input, output] = pricing
      ? [pricing.input_per_million_tokens, pricing.output_per_million_tokens]
      : [publishedPrices[id]?.input, publishedPrices[id]?.output];
    return {
      id,
      ...(contextTokens !== undefined && { contextTokens }),
      ...(input !== undefined && { inputEurPerMillion: input }),
      ...(output !== undefined && { outputEurPerMillion: output }),
    };
  });
  return { models };
}

/** The message for a missing model, with similar ids, or with some of those that there are. */
export function unknownModel(id: string, ids: readonly string[]): string {
  const near = nearest(id, ids);
  const others = near.length > 0 ? `nearest are ${near.join(", ")}` : `none is similar; it has ${ids.join(", ")}`;
  return `the platform has no model ${id}; ${others}`;
}
