import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bounded } from "../../src/gateway/answer/bound.ts";
import { type Meter, streamMeter, wholeMeter } from "../../src/gateway/answer/meter.ts";
import { translating } from "../../src/gateway/responses/meter.ts";

const chunk = (content: string, more: object = {}) =>
  JSON.stringify({ object: "chat.completion.chunk", choices: [{ index: 0, delta: { content } }], ...more });
const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };
const stream = (events: string[], newline: string) =>
  events.map((event) => `data: ${event}${newline}${newline}`).join("");

/** The output of a meter when the text arrives in pieces of these sizes. */
function through(meter: Meter, text: string, sizes: readonly number[]): string {
  const bytes = Buffer.from(text);
  const out: Buffer[] = [];
  for (let at = 0, nth = 0; at < bytes.length; nth += 1) {
    const size = sizes[nth % sizes.length] ?? 1;
    out.push(meter.push(bytes.subarray(at, at + size)));
    at += size;
  }
  return Buffer.concat([...out, meter.end()]).toString();
}

const sizes = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1 });
const newline = fc.constantFrom("\n", "\r\n", "\r");

describe("an answer without content", () => {
  const whole = (message: object) =>
    JSON.stringify({ choices: [{ index: 0, message: { role: "assistant", ...message } }], usage });
  const call = { function: { name: "tell", arguments: "{}" } };

  it.each<[string, string, boolean]>([
    ["no text", whole({ content: "" }), true],
    ["null", whole({ content: null }), true],
    ["no choice", JSON.stringify({ choices: [], usage }), true],
    ["a text", whole({ content: "x" }), false],
    ["a text in parts", whole({ content: [{ type: "text", text: "x" }] }), false],
    ["a call of a tool", whole({ content: null, tool_calls: [call] }), false],
    ["a long text", whole({ content: "x".repeat(40_000) }), false],
  ])("is empty with %s: %#", (_, text, isEmpty) => {
    fc.assert(
      fc.property(sizes, (cuts) => {
        const meter = wholeMeter();
        through(
          meter,
          text,
          cuts.map((size) => size * 100),
        );
        expect(meter.isEmpty()).toBe(isEmpty);
      }),
      { numRuns: 20 },
    );
  });

  it("is a stream that says nothing, however it is cut", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("", "a")), sizes, newline, (texts, cuts, line) => {
        const meter = streamMeter(false);
        through(meter, stream([...texts.map((text) => chunk(text)), "[DONE]"], line), cuts);
        expect(meter.isEmpty()).toBe(texts.join("") === "");
      }),
    );
  });
});

describe("a stream", () => {
  it("passes whole, however it is cut, and tells its usage; who did not ask for usage does not see it", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: "grapheme" })),
        sizes,
        newline,
        fc.boolean(),
        (texts, cuts, line, hides) => {
          const words = texts.map((text) => chunk(text, { usage: null }));
          const last = JSON.stringify({ choices: [], usage });
          const meter = streamMeter(hides);
          const out = through(meter, stream([...words, last, "[DONE]"], line), cuts);
          expect(out).toBe(stream([...words, ...(hides ? [] : [last]), "[DONE]"], line));
          expect(meter.usage()).toEqual({ input: 7, output: 3 });
          expect(meter.events).toBe(texts.length + 2);
        },
      ),
    );
  });

  it("becomes the same response, however its lines end and wherever it is cut", () => {
    const translated = (line: string, cuts: readonly number[]) => {
      const said = (text: string) => chunk(text, { id: "c", created: 1, model: "m" });
      const meter = translating(streamMeter(false), { model: "m", input: "x", stream: true } as never);
      const out = through(meter, stream([said("é"), said("b"), "[DONE]"], line), cuts);
      return out.replaceAll(/"(?:id|item_id)":"[^"]*"|"created_at":\d+/g, "");
    };
    const expected = translated("\n", [10_000]);
    expect(expected).toContain('"delta":"é"');
    fc.assert(
      fc.property(sizes, newline, (cuts, line) => {
        expect(translated(line, cuts)).toBe(expected);
      }),
    );
  });

  it("is not misled by a text that looks like usage", () => {
    const meter = streamMeter(true);
    const fake = chunk(`"usage": {"prompt_tokens": 0}, "choices": []`);
    expect(through(meter, stream([fake, "[DONE]"], "\n"), [5])).toContain("prompt_tokens");
    expect(meter.usage()).toBeUndefined();
  });

  it("that never ends an event passes all the same, and does not fill memory", () => {
    const meter = streamMeter(true);
    let passed = 0;
    for (let nth = 0; nth < 40; nth += 1) passed += meter.push(Buffer.alloc(65_536, "x")).length;
    expect(40 * 65_536 - passed).toBeLessThanOrEqual(1_048_576);
  });
});

describe("a whole answer", () => {
  it("tells its usage, however long it is and however it is cut", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 200 }), fc.nat({ max: 400 }), sizes, (text, times, cuts) => {
        const answer = JSON.stringify({ choices: [{ message: { content: text.repeat(times) } }], usage });
        const meter = wholeMeter();
        expect(through(meter, answer, cuts)).toBe(answer);
        expect(meter.usage()).toEqual({ input: 7, output: 3 });
      }),
      { numRuns: 50 },
    );
  });

  it("of embeddings has input only; one without usage has none", () => {
    const meter = wholeMeter();
    through(meter, JSON.stringify({ data: [], usage: { prompt_tokens: 5, total_tokens: 5 } }), [7]);
    expect(meter.usage()).toEqual({ input: 5, output: 0 });
    const bare = wholeMeter();
    through(bare, JSON.stringify({ created: 1, data: [{ revised_prompt: '"usage": {"prompt_tokens": 1}' }] }), [9]);
    expect(bare.usage()).toBeUndefined();
  });
});

describe("usage in an answer that is not a stream", () => {
  const usageOf = (usage: string) => {
    const meter = wholeMeter();
    through(meter, `{"choices":[],"usage":{${usage}}}`, [7]);
    return meter.usage();
  };

  it.each([
    ['"prompt_tokens":1e3,"completion_tokens":1e6', { input: 1000, output: 1_000_000 }],
    ['"prompt_tokens":1.5E1,"completion_tokens":20.0', { input: 15, output: 20 }],
    ['"prompt_tokens": 7 , "total_tokens": 7', { input: 7, output: 0 }],
  ])("is the whole number: %s", (usage, expected) => {
    expect(usageOf(usage)).toEqual(expected);
  });

  it.each([
    '"prompt_tokens":7,"completion_tokens":-1',
    '"prompt_tokens":7,"completion_tokens":"9"',
    '"prompt_tokens":7,"completion_tokens":1e999',
    '"prompt_tokens":1-1,"completion_tokens":3',
    '"completion_tokens":3',
  ])("is not known if it cannot be read: %s", (usage) => {
    expect(usageOf(usage)).toBeUndefined();
  });
});

it("a stream of many more events than tokens were asked for is ended", () => {
  const meter = bounded(streamMeter(false), { usage: { input: 10, output: 10 }, output: 10, bytes: 1_048_576 });
  const pour = (count: number) => through(meter, stream(Array(count).fill(chunk("x")), "\n"), [1000]);
  expect(pour(100)).toContain("x");
  expect(() => pour(100)).toThrow("more than it was asked for");
});
