import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { platformForFile } from "../../simulator/platform.ts";

/** Rarely used functions of the public client, unchanged. */

const platform = await platformForFile();
await platform.steer("PUT", "limits", { inference: { perSecond: 10_000, burst: 10_000 } });

const baseURL = `${platform.ready.endpoints.inference}/v1`;
const client = new OpenAI({ apiKey: platform.ready.token, baseURL, maxRetries: 0 });
const chatModel = "mistralai/Mistral-Small-24B-Instruct";
const user = (content: string) => ({ role: "user" as const, content });
const chat = { model: chatModel, max_completion_tokens: 200, messages: [user("Where is the harbour?")] };

async function collected<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const each of stream) all.push(each);
  return all;
}

describe("the openai client", () => {
  it("speaks as developer, whose words count as the system's", async () => {
    const messages = [{ role: "developer" as const, content: "Be brief." }, ...chat.messages];
    const { choices } = await client.chat.completions.create({ ...chat, messages });
    expect(choices[0]?.message.content).toContain("System message: Be brief.");
    expect(choices[0]?.message.content).toContain("1 developer, 1 user");
  });

  it("gets the log probabilities of each token when it asks for them, also in a stream", async () => {
    const plain = await client.chat.completions.create(chat);
    expect(plain.choices[0]?.logprobs ?? undefined).toBeUndefined();
    const asked = { ...chat, logprobs: true, top_logprobs: 2 };
    const { choices } = await client.chat.completions.create(asked);
    const reported = choices[0]?.logprobs?.content ?? [];
    expect(reported.map(({ token }) => token).join("")).toBe(choices[0]?.message.content);
    const [first] = reported;
    expect(first).toMatchObject({ logprob: 0, bytes: [...Buffer.from(first?.token ?? "")] });
    expect(first?.top_logprobs.map(({ token }) => token)).toEqual([first?.token]);
    const chunks = await collected(await client.chat.completions.create({ ...asked, stream: true }));
    expect(chunks.flatMap((each) => each.choices[0]?.logprobs?.content ?? [])).toEqual(reported);
    const few = await client.chat.completions.create({ ...chat, logprobs: true });
    expect(few.choices[0]?.logprobs?.content?.[0]?.top_logprobs).toEqual([]);
  });

  it("gets those of a plain text in the form of that call", async () => {
    const asked = { model: chatModel, prompt: "ahoy", logprobs: 1 };
    const { choices } = await client.completions.create(asked);
    const { tokens = [], token_logprobs: all, text_offset: offsets, top_logprobs: top } = choices[0]?.logprobs ?? {};
    expect(tokens.join("")).toBe(choices[0]?.text);
    expect(all).toEqual(tokens.map(() => 0));
    expect(offsets?.at(-1)).toBe(tokens.slice(0, -1).join("").length);
    expect(top?.[0]).toEqual({ [tokens[0] ?? ""]: 0 });
    const chunks = await collected(await client.completions.create({ ...asked, stream: true }));
    expect(chunks.flatMap((each) => each.choices[0]?.logprobs?.tokens ?? [])).toEqual(tokens);
  });

  it("sends a body of eight MiB, as the gateway takes, and not one of more", async () => {
    const picture = (bytes: number) => ({
      ...chat,
      messages: [
        {
          role: "user" as const,
          content: [{ type: "image_url" as const, image_url: { url: `data:image/png;base64,${"A".repeat(bytes)}` } }],
        },
      ],
    });
    const MiB = 1024 * 1024;
    const { choices } = await client.chat.completions.create(picture(8 * MiB - 1000));
    expect(choices[0]?.message.content).toContain("You wrote: [image]");
    await expect(client.chat.completions.create(picture(8 * MiB))).rejects.toMatchObject({ status: 413 });
  });
});

describe("a model", () => {
  it.each([
    ["mistralai/Mistral-Small-24B-Instruct", 0.1, 0.3],
    ["openai/gpt-oss-120b", 0.15, 0.65],
    ["meta-llama/Llama-3.3-70B-Instruct", 0.65, 0.65],
  ])("%s is told with its limits and prices", async (model, input, output) => {
    expect(await client.models.retrieve(model)).toMatchObject({
      context_window: 128_000,
      pricing: { currency: "EUR", input_per_million_tokens: input, output_per_million_tokens: output },
    });
    expect((await client.chat.completions.create({ ...chat, model })).model).toBe(model);
  });

  it("a model for embeddings has one price, and does not chat", async () => {
    const model = "BAAI/bge-m3";
    expect(await client.models.retrieve(model)).toMatchObject({
      pricing: { input_per_million_tokens: 0.02, output_per_million_tokens: 0 },
    });
    await expect(client.chat.completions.create({ ...chat, model })).rejects.toMatchObject({ status: 400 });
  });
});

describe("a question", () => {
  it("may set a temperature, and need not", async () => {
    const [plain, warm] = await Promise.all(
      [{}, { temperature: 0.7 }].map((more) => client.chat.completions.create({ ...chat, ...more })),
    );
    expect(warm?.choices[0]?.message.content).toBe(plain?.choices[0]?.message.content);
    const hot = client.chat.completions.create({ ...chat, temperature: 2.1 });
    await expect(hot).rejects.toMatchObject({ status: 422, param: "temperature" });
  });

  it("a stream ends with its usage, then with [DONE]", async () => {
    const body = { ...chat, stream: true, stream_options: { include_usage: true } };
    const response = await fetch(`${baseURL}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${platform.ready.token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const [usage = "", done] = (await response.text()).trimEnd().split("\n\n").slice(-2);
    expect(JSON.parse(usage.replace("data: ", ""))).toMatchObject({
      choices: [],
      usage: { total_tokens: expect.any(Number) },
    });
    expect(done).toBe("data: [DONE]");
  });
});
