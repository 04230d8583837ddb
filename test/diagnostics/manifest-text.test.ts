import { describe, expect, it } from "vitest";
import { costEstimate } from "../../src/diagnostics/cost.ts";
import { planQuestion } from "../../src/plan/question.ts";

const platform = {
  endpoint: () => "https://api.example.org",
  contractNumber: 1,
  read: async () => ({ status: 200, headers: {}, body: { products: [] } }),
};
const sources = {
  signal: new AbortController().signal,
  progress: () => {},
  missing: () => {},
  platform: async () => platform,
  cluster: async () => Promise.reject(new Error("none")),
  schemas: async () => () => ({}),
} as never;

describe.each([
  ["a cost estimate", costEstimate],
  ["a plan", planQuestion],
])("%s refuses before it takes long", (_, ask: (from: never, asked: { manifest: string }) => Promise<unknown>) => {
  it.each([
    ["many documents", "---\n".repeat(8000), "documents, more than 100"],
    ["many bytes", "a".repeat(40_000), "bytes, more than 32768"],
    ["deep lists", "[".repeat(400), "nested more than 64 deep"],
    ["deep maps", "{a: ".repeat(400), "nested more than 64 deep"],
    ["maps as keys", "? ".repeat(20), "a key is not a text"],
  ])("%s", async (_, manifest, message) => {
    await expect(ask(sources, { manifest })).rejects.toThrow(message);
  });
});
