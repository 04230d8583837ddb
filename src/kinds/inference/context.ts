/** Maximum tokens of a call to a model, prompt and answer together, as the platform publishes them. */
export const contextTokens: Readonly<Record<string, number>> = {
  "mistralai/Mistral-Small-24B-Instruct": 128_000,
  "openai/gpt-oss-120b": 128_000,
  "meta-llama/Llama-3.3-70B-Instruct": 128_000,
};
