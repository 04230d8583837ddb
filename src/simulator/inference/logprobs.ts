import type { ChatBody, CompletionBody } from "./body.ts";

/** There is no model: each token has the probability 1, and there is no alternative. */
const certain = 0;

/** The log probabilities of tokens, as a field of a choice; none unless they were asked for. */
export type ChatLogprobs = (tokens: readonly string[]) => object;
/** The same for plain text; `offset` is where the first token begins in it. */
export type CompletionLogprobs = (tokens: readonly string[], offset: number) => object;

const logprobOf = (token: string) => ({ token, logprob: certain, bytes: [...Buffer.from(token)] });

export function chatLogprobs({ logprobs, top_logprobs: top }: ChatBody): ChatLogprobs {
  if (logprobs !== true) return () => ({});
  const content = (token: string) => ({ ...logprobOf(token), top_logprobs: top ? [logprobOf(token)] : [] });
  return (tokens) => ({ logprobs: { content: tokens.map(content), refusal: null } });
}

export function completionLogprobs({ logprobs }: CompletionBody): CompletionLogprobs {
  if (logprobs === undefined || logprobs === null) return () => ({});
  return (tokens, offset) => {
    let at = offset;
    const offsets = tokens.map((token) => {
      at += token.length;
      return at - token.length;
    });
    return {
      logprobs: {
        tokens,
        token_logprobs: tokens.map(() => certain),
        top_logprobs: logprobs > 0 ? tokens.map((token) => ({ [token]: certain })) : null,
        text_offset: offsets,
      },
    };
  };
}
