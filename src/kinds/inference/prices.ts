/** EUR per million tokens. */
export interface Price {
  input: number;
  output: number;
}

export interface Usage {
  input: number;
  output: number;
}

/** The cost in EUR of a number of tokens. */
export const costOf = ({ input, output }: Usage, price: Price): number =>
  (input * price.input + output * price.output) / 1_000_000;

/** The prices that the platform publishes. */
export const publishedPrices: Readonly<Record<string, Price>> = {
  "mistralai/Mistral-Small-24B-Instruct": { input: 0.1, output: 0.3 },
  "openai/gpt-oss-120b": { input: 0.15, output: 0.65 },
  "meta-llama/Llama-3.3-70B-Instruct": { input: 0.65, output: 0.65 },
  "BAAI/bge-m3": { input: 0.02, output: 0 },
  "BAAI/bge-large-en-v1.5": { input: 0.02, output: 0 },
};
