import type { Call, Reply } from "../http/exchange.ts";
import type { World } from "../world.ts";
import { bodyOf, type ChatBody, chatBody, type Message, type Tool, textOf } from "./body.ts";
import { type ChatLogprobs, chatLogprobs } from "./logprobs.ts";
import { checkContext, countTokens, ended, modelOf, usageOf } from "./models.ts";
import { refusal } from "./refusal.ts";
import { valueFor } from "./schema-value.ts";

interface ToolCall {
  id: string;
  name: string;
  arguments: string[];
}

interface Choice {
  tokens: string[];
  calls: ToolCall[];
  finish: "stop" | "length" | "tool_calls";
}

/** An answer that shows what was asked: an echo, a value of the schema that was sent, or calls of the tools it mentions. */
export function chat(world: World, call: Call): Reply {
  const body = bodyOf(chatBody, call.body);
  const model = modelOf(body.model, "chat");
  const prompt = body.messages.reduce((sum, message) => sum + 3 + countTokens(textOf(message)), 0);
  const most = body.max_completion_tokens ?? body.max_tokens ?? undefined;
  checkContext(model, prompt, most ?? 0, "messages");
  // Without a maximum an answer ends by itself, within the context.
  const maxTokens = most ?? model.context - prompt;
  const choices = Array.from({ length: body.n }, (_, index) =>
    call.effects.emptyContent ? emptyChoice : choiceOf(world, body, index, maxTokens),
  );
  const completion = choices.reduce(
    (sum, { tokens, calls }) => sum + tokens.length + calls.reduce((all, each) => all + each.arguments.length, 0),
    0,
  );
  const about = {
    id: `chatcmpl-${world.chance.uuid("chat")}`,
    created: Math.floor(call.at / 1000),
    model: model.id,
    system_fingerprint: "fp_simulator",
  };
  const usage = usageOf(prompt, completion);
  world.billing.tokens(model.id, { input: prompt, output: completion });
  if (body.stream === true) {
    const shownUsage = body.stream_options?.include_usage ? usage : undefined;
    return { status: 200, events: eventsOf(about, choices, shownUsage, chatLogprobs(body)) };
  }
  return {
    status: 200,
    body: { ...about, object: "chat.completion", choices: choices.map(shownWith(chatLogprobs(body))), usage },
  };
}

const emptyChoice: Choice = { tokens: [], calls: [], finish: "stop" };

function choiceOf(world: World, body: ChatBody, index: number, maxTokens: number): Choice {
  const calls = toolsFor(body).map(({ function: { name, parameters } }) => ({
    id: `call_${world.chance.uuid("tool-call").replaceAll("-", "").slice(0, 24)}`,
    name,
    arguments: ended(JSON.stringify(valueFor(parameters ?? { type: "object" }, asked(body))), {
      stop: [],
      maxTokens,
    }).tokens,
  }));
  if (calls.length > 0) return { tokens: [], calls, finish: "tool_calls" };
  const stop = [body.stop ?? []].flat();
  return { ...ended(contentOf(body, index), { stop, maxTokens }), calls };
}

/** The last message of the user. */
const asked = ({ messages }: ChatBody): string => {
  const last = messages.findLast(({ role }) => role === "user");
  return last === undefined ? "" : textOf(last);
};

function contentOf(body: ChatBody, index: number): string {
  const format = body.response_format;
  if (format?.type === "json_schema") return JSON.stringify(valueFor(format.json_schema.schema, asked(body)));
  const counts = Object.entries(Object.groupBy(body.messages, ({ role }) => role)).map(
    ([role, messages]) => [role, messages.length] as const,
  );
  if (format?.type === "json_object") {
    return JSON.stringify({ you_wrote: asked(body), messages: Object.fromEntries(counts), model: body.model });
  }
  const last = body.messages.at(-1);
  const said = last?.role === "tool" ? `The tool answered: ${textOf(last)}` : `You wrote: ${asked(body)}`;
  const system = body.messages.find(({ role }) => role === "system" || role === "developer");
  return [
    said,
    ...(system === undefined ? [] : [`System message: ${textOf(system)}`]),
    `Messages: ${counts.map(([role, count]) => `${count} ${role}`).join(", ")}. Model: ${body.model}.`,
    ...(index > 0 ? [`Choice ${index + 1} of ${body.n}.`] : []),
  ].join("\n");
}

/** The tools that must be called, else those that the user's last message names. After the answer of a tool, none. */
function toolsFor({ tools, tool_choice: choice, messages, ...rest }: ChatBody): Tool[] {
  if (!tools || choice === "none") return [];
  if (typeof choice === "object" && choice !== null) {
    const named = tools.find((tool) => tool.function.name === choice.function.name);
    if (named !== undefined) return [named];
    throw refusal(400, "invalid_value", `There is no tool ${choice.function.name}`, "tool_choice");
  }
  const hasToolAnswer = messages.at(-1)?.role === "tool";
  const words = asked({ ...rest, messages });
  const mentioned = hasToolAnswer ? [] : tools.filter(({ function: { name } }) => words.includes(name));
  return choice === "required" && mentioned.length === 0 ? tools.slice(0, 1) : mentioned;
}

const called = ({ id, name, arguments: tokens }: ToolCall) => ({
  id,
  type: "function",
  function: { name, arguments: tokens.join("") },
});

const shownWith =
  (logprobs: ChatLogprobs) =>
  ({ tokens, calls, finish }: Choice, index: number) => ({
    index,
    ...logprobs(tokens),
    message: {
      role: "assistant" satisfies Message["role"],
      content: calls.length > 0 ? null : tokens.join(""),
      ...(calls.length > 0 && { tool_calls: calls.map(called) }),
    },
    finish_reason: finish,
  });

/** Without usage unless it was asked for, as on the platform. */
function* eventsOf(
  about: object,
  choices: readonly Choice[],
  usage: object | undefined,
  logprobs: ChatLogprobs,
): Generator<string> {
  const chunk = (more: object) =>
    JSON.stringify({ ...about, object: "chat.completion.chunk", ...(usage && { usage: null }), ...more });
  const delta = (index: number, change: object, finish: string | null = null, more: object = {}) =>
    chunk({ choices: [{ index, delta: change, finish_reason: finish, ...more }] });
  for (const [index, { tokens, calls, finish }] of choices.entries()) {
    yield delta(index, { role: "assistant", content: calls.length > 0 ? null : "" });
    for (const content of tokens) yield delta(index, { content }, null, logprobs([content]));
    for (const [nth, each] of calls.entries()) {
      yield delta(index, { tool_calls: [{ index: nth, ...called({ ...each, arguments: [] }) }] });
      for (const piece of each.arguments) {
        yield delta(index, { tool_calls: [{ index: nth, function: { arguments: piece } }] });
      }
    }
    yield delta(index, {}, finish);
  }
  if (usage !== undefined) yield chunk({ choices: [], usage });
  yield "[DONE]";
}
