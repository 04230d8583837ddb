import type { Call, Reply } from "../http/exchange.ts";
import type { World } from "../world.ts";
import { bodyOf, completionBody } from "./body.ts";
import { type CompletionLogprobs, completionLogprobs } from "./logprobs.ts";
import { checkContext, countTokens, ended, modelOf, usageOf } from "./models.ts";

/** Completes a text by repeating it. */
export function complete(world: World, call: Call): Reply {
  const body = bodyOf(completionBody, call.body);
  const model = modelOf(body.model, "chat");
  const prompts = [body.prompt].flat();
  const prompt = prompts.reduce((sum, text) => sum + countTokens(text), 0);
  checkContext(model, prompt, body.max_tokens ?? 0, "prompt");
  // Without a maximum an answer ends by itself, within the context.
  const maxTokens = body.max_tokens ?? model.context - prompt;
  const stop = [body.stop ?? []].flat();
  const choices = prompts
    .flatMap((text) => Array.from({ length: body.n }, () => text))
    .map((text) => ended(call.effects.emptyContent ? "" : ` … and you wrote: ${text}`, { stop, maxTokens }));
  const usage = usageOf(
    prompt,
    choices.reduce((sum, { tokens }) => sum + tokens.length, 0),
  );
  world.billing.tokens(model.id, { input: usage.prompt_tokens, output: usage.completion_tokens });
  const about = {
    id: `cmpl-${world.chance.uuid("completion")}`,
    object: "text_completion",
    created: Math.floor(call.at / 1000),
    model: model.id,
  };
  if (body.stream === true) {
    const shownUsage = body.stream_options?.include_usage ? usage : undefined;
    return { status: 200, events: eventsOf(about, choices, shownUsage, completionLogprobs(body)) };
  }
  const logprobs = completionLogprobs(body);
  const shown = choices.map(({ tokens, finish }, index) => ({
    index,
    text: tokens.join(""),
    finish_reason: finish,
    ...logprobs(tokens, 0),
  }));
  return { status: 200, body: { ...about, choices: shown, usage } };
}

function* eventsOf(
  about: object,
  choices: readonly ReturnType<typeof ended>[],
  usage: object | undefined,
  logprobs: CompletionLogprobs,
): Generator<string> {
  const chunk = (index: number, text: string, finish: string | null, more: object = {}) =>
    JSON.stringify({
      ...about,
      choices: [{ index, text, finish_reason: finish, ...more }],
      ...(usage && { usage: null }),
    });
  for (const [index, { tokens, finish }] of choices.entries()) {
    let offset = 0;
    for (const text of tokens) {
      yield chunk(index, text, null, logprobs([text], offset));
      offset += text.length;
    }
    yield chunk(index, "", finish);
  }
  if (usage !== undefined) yield JSON.stringify({ ...about, choices: [], usage });
  yield "[DONE]";
}
