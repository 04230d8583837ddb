import { expect, it } from "vitest";
import { z } from "zod";
import { platformForFile } from "../platform.ts";

const platform = await platformForFile();
const model = "mistralai/Mistral-Small-24B-Instruct";
const usage = z.looseObject({
  usage: z.looseObject({ prompt_tokens: z.int(), completion_tokens: z.int().optional() }),
});
const ask = async (path: string, body: object) => {
  const answer = await platform.call("POST", `/inference/v1${path}`, body);
  expect(answer).toMatchObject({ status: 200 });
  return usage.parse(answer.body).usage;
};
const own = async (path: string) =>
  (await platform.call("GET", `/billing/${platform.ready.contractNumber}${path}`)).body;
const products = z.looseObject({
  products: z.array(z.looseObject({ meterId: z.string(), meterDesc: z.string(), unit: z.string() })),
});
const utilization = z.looseObject({
  datacenters: z.array(
    z.looseObject({
      meters: z.array(
        z.looseObject({
          meterId: z.string(),
          resourceId: z.string(),
          quantity: z.looseObject({ quantity: z.number() }),
        }),
      ),
    }),
  ),
});

it("tokens are billed by model and direction, per million, at the prices that the catalogue tells", async () => {
  const messages = [{ role: "user", content: "where do the tokens go? ".repeat(50) }];
  const first = await ask("/chat/completions", { model, messages });
  const second = await ask("/chat/completions", { model, messages, max_tokens: 5 });
  const vector = await ask("/embeddings", { model: "BAAI/bge-m3", input: "where do they go" });
  await platform.advance(60);
  const catalogue = products.parse(await own("/products")).products.filter(({ unit }) => unit === "1M tokens");
  expect(catalogue.find(({ meterDesc }) => meterDesc === `Input tokens, ${model}`)).toMatchObject({
    type: "INFERENCE",
    unitCost: { quantity: "0.1", unit: "EUR" },
  });
  const idOf = (desc: string) => catalogue.find(({ meterDesc }) => meterDesc === desc)?.meterId ?? "";
  const found = utilization.parse(await own("/utilization")).datacenters.flatMap(({ meters }) => meters);
  const millions = (desc: string) =>
    found.filter(({ meterId }) => meterId === idOf(desc)).reduce((sum, { quantity }) => sum + quantity.quantity, 0);
  const total = (key: "prompt_tokens" | "completion_tokens") => (first[key] ?? 0) + (second[key] ?? 0);
  expect(millions(`Input tokens, ${model}`)).toBeCloseTo(total("prompt_tokens") / 1e6, 6);
  expect(millions(`Output tokens, ${model}`)).toBeCloseTo(total("completion_tokens") / 1e6, 6);
  expect(millions("Input tokens, BAAI/bge-m3")).toBeCloseTo(vector.prompt_tokens / 1e6, 6);
});

it("a refused question costs nothing", async () => {
  const billed = async () => utilization.parse(await own("/utilization")).datacenters;
  const before = await billed();
  expect(before).not.toEqual([]);
  await platform.call("POST", "/inference/v1/chat/completions", { model, messages: [] });
  expect(await billed()).toEqual(before);
});
