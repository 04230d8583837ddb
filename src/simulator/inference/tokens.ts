/** A text cut into tokens of up to four letters; joined, they are the text again. */
export const tokensOf = (text: string): string[] => text.match(/\s*\S{1,4}|\s+$/gu) ?? [];

export const countTokens = (text: string): number => tokensOf(text).length;

export interface Ending {
  stop: readonly string[];
  maxTokens: number;
}

/** As much of a text as the caller wants, and why it ends there. */
export function ended(text: string, { stop, maxTokens }: Ending): { tokens: string[]; finish: "stop" | "length" } {
  const places = stop.map((word) => text.indexOf(word)).filter((at) => at >= 0);
  const tokens = tokensOf(text.slice(0, Math.min(text.length, ...places)));
  return tokens.length > maxTokens
    ? { tokens: tokens.slice(0, maxTokens), finish: "length" }
    : { tokens, finish: "stop" };
}

export const usageOf = (prompt: number, completion: number) => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
});
