import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it, onTestFinished } from "vitest";
import { streamMeter, wholeMeter } from "../../src/gateway/answer/meter.ts";
import { chatModel, startGateway } from "./running.ts";
import { scriptedPlatform } from "./scripted-platform.ts";

const platform = await scriptedPlatform((_, response) => void response.end());
const asked = (stream: boolean) => JSON.stringify({ model: chatModel, messages: [], max_tokens: 50, stream });
const reserved = (stream: boolean) => [asked(stream).length, 50];

/** The tokens that are booked for a call with this answer. */
async function booked(answer: string, { stream = false, status = 200 } = {}): Promise<number[]> {
  const type = stream ? "text/event-stream" : "application/json";
  platform.answer = (_, response) => void response.writeHead(status, { "content-type": type }).end(answer);
  const gateway = await startGateway({
    upstream: platform.upstream,
    credentials: async () => ({ authorization: "Bearer platform-secret" }),
    accesses: [{ namespace: "shop", name: "chat", models: [chatModel] }],
  });
  onTestFinished(() => gateway.stop());
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: "Bearer token-of-shop", "content-type": "application/json" },
    body: asked(stream),
  });
  await response.text();
  await expect.poll(() => gateway.server.open()).toBe(0);
  const lines = await gateway.metric("tokens_total");
  const counted = (direction: string) => lines.find((line) => line.includes(`"${direction}"`))?.split(" ");
  return ["input", "output"].map((direction) => Number(counted(direction)?.at(-1)));
}

const good = '{"prompt_tokens":7,"completion_tokens":3}';
const zero = '{"prompt_tokens":0,"completion_tokens":0}';
const produced = (count: string) => `"usage":{"prompt_tokens":7,"completion_tokens":${count}}`;

const unreadable = [
  ...["NaN", "Infinity", "{}", "[3]", "01", "0x10", "1e", "1-1", "-1", "1.5", '"3"', "true", "null", ""].map(produced),
  ...["1e21", "1e999", "10000001"].map(produced),
  '"usage":{"prompt_tokens":1e21,"completion_tokens":3}',
  '"usage":{"completion_tokens":3}',
  '"usage":{"prompt_tokens_details":{"prompt_tokens":0,"completion_tokens":0}}',
  '"usage":{"prompt_tokens":7,"completion_tokens":3,"completion_tokens":0}',
  '"usage":{"prompt_tokens":7,"completion_tokens":3,"completion\\u005ftokens":0}',
  `"usage":${good},"usage":${zero}`,
  `"usage":${good},"\\u0075sage":${zero}`,
  `"usage":${zero},"usage":null`,
  '"usage":[7,3]',
  '"usage":"7/3"',
  '"usage":0',
  `"usage":{"prompt_tokens":7,"completion_tokens":3,"more":"${"x".repeat(20_000)}"}`,
];
const absent = [
  '"usage":null',
  `"meta":{"usage":${zero}}`,
  `"meta":[{"usage":${zero}}]`,
  `"a":"\\"usage\\":${'{\\"'}"`,
];
const readable = [
  `"usage":${good}`,
  ` "usage" : { "completion_tokens" : 3 , "prompt_tokens" : 7 } `,
  '"usage":{"prompt_tokens":0.7e1,"completion_tokens":3.0}',
  `"\\u0075s\\u0061ge":${good}`,
  '"usage":{"prompt\\u005Ftokens":7,"completion_tokens":3}',
  '"usage":{"prompt_tokens_details":{"prompt_tokens":0,"completion_tokens":0},"prompt_tokens":7,"completion_tokens":3}',
  `"usage":${good},"meta":{"usage":${zero}}`,
  `"meta":{"usage":${zero}},"usage":${good}`,
  `"usage":${good},"meta":{"usage":{"prompt_tokens":900,"completion_tokens":900}}`,
  `"usage":${good},"meta":{"text":"${"x".repeat(20_000)}","usage":${zero}}`,
  `"usage":${good},"meta":{"a":"}","b":[{"usage":${zero}}]}`,
  `"usage":${good},"text":"${'\\"usage\\":{\\"prompt_tokens\\":0} '.repeat(2000)}"`,
];
const short = (fields: string) => fields.slice(0, 110);

describe("an answer", () => {
  const whole = (fields: string) => `{"choices":[{"index":0,"message":{"content":"x"}}],${fields}}`;

  it.each([...unreadable, ...absent].map((fields) => [short(fields), fields]))(
    "costs what is reserved: %s",
    async (_, fields) => {
      expect(await booked(whole(fields))).toEqual(reserved(false));
    },
  );

  it.each(readable.map((fields) => [short(fields), fields]))(
    "costs the usage at its top level: %s",
    async (_, fields) => {
      expect(await booked(whole(fields))).toEqual([7, 3]);
    },
  );

  it.each([
    ["is not closed", `{"usage":${good}`],
    ["is followed by another one", `{"usage":${zero}}{"usage":${good}}`],
    ["is in a list", `[{"usage":${zero}}]`],
  ])("costs what is reserved if it %s", async (_, text) => {
    expect(await booked(text)).toEqual(reserved(false));
  });

  it("has the same usage however it is cut", () => {
    for (const fields of [...unreadable, ...absent, ...readable].filter(({ length }) => length < 1000))
      for (const size of [1, 2, 3, 7, 1000]) {
        const bytes = Buffer.from(whole(fields));
        const meter = wholeMeter();
        for (let at = 0; at < bytes.length; at += size) meter.push(bytes.subarray(at, at + size));
        const isReadable = readable.includes(fields);
        expect(meter.usage(), fields).toEqual(isReadable ? { input: 7, output: 3 } : undefined);
        expect(meter.isUnclear(), fields).toBe(unreadable.includes(fields));
      }
  });

  it("that is a refusal costs nothing, its usage if it has one, and what is reserved if that cannot be read", async () => {
    expect(await booked('{"error":"no"}', { status: 400 })).toEqual([0, 0]);
    expect(await booked(`{"error":"no","usage":${good}}`, { status: 400 })).toEqual([7, 3]);
    expect(await booked(`{"error":"no",${produced("NaN")}}`, { status: 400 })).toEqual(reserved(false));
  });
});

describe("a stream", () => {
  const event = (fields: string, choices = "[]") => `data: {"choices":${choices},${fields}}\n\n`;
  const word = event('"usage":null', '[{"delta":{"content":"x"}}]');
  const stream = true;

  it.each([...unreadable, ...absent].map((fields) => [short(fields), fields]))(
    "costs what is reserved: %s",
    async (_, fields) => {
      expect(await booked(`${word}${event(fields)}data: [DONE]\n\n`, { stream })).toEqual(reserved(stream));
    },
  );

  it.each(readable.map((fields) => [short(fields), fields]))("costs the usage of its events: %s", async (_, fields) => {
    expect(await booked(`${word}${event(fields)}data: [DONE]\n\n`, { stream })).toEqual([7, 3]);
  });

  it("costs what is reserved if any usage cannot be read, or more if more was reported", async () => {
    const unclear = event(produced("NaN"), '[{"delta":{"content":"x"}}]');
    expect(await booked(`${unclear}${event(`"usage":${good}`)}`, { stream })).toEqual(reserved(stream));
    expect(await booked(`${event(produced("900"))}${unclear}`, { stream })).toEqual([reserved(stream)[0], 900]);
  });

  it("has its usage in an event of several lines, or with any character", async () => {
    const lines = `data: {"choices":[],\ndata: "usage":${good}}\r\n\r\n`;
    expect(await booked(lines, { stream })).toEqual([7, 3]);
    expect(await booked(event(`"a":"\u2028\u2029\u0085","usage":${good}`), { stream })).toEqual([7, 3]);
  });

  it("has its usage in a last event that is not followed by an empty line", async () => {
    const before = event('"usage":{"prompt_tokens":7,"completion_tokens":0}', '[{"delta":{"content":"x"}}]');
    expect(await booked(`${before}${event(`"usage":${good}`).trim()}`, { stream })).toEqual([7, 3]);
  });

  it("hides a usage that was not asked for, readable or not, and changes no other byte", () => {
    const other = Buffer.concat([Buffer.from('data: {"a":"'), Buffer.from([0xff, 0xc3]), Buffer.from('"}\n\n')]);
    const meter = streamMeter(true);
    const hidden = Buffer.from(event(produced("NaN")) + event(`"usag\\u0065":${good}`));
    expect(meter.push(Buffer.concat([other, hidden, other]))).toEqual(Buffer.concat([other, other]));
  });
});

describe("hostile answers", () => {
  const MIB = 1_048_576;
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  /** The bytes of all objects that are in use. */
  const held = () => {
    collect();
    return process.memoryUsage().heapUsed;
  };

  /** An answer of 32 MiB that begins with `first` and repeats `piece`: the CPU time that it takes, and its meter. */
  function measured(piece: string, first: string) {
    const chunk = Buffer.alloc(65_536, piece);
    const meter = wholeMeter();
    meter.push(Buffer.from(first));
    const begun = process.threadCpuUsage();
    for (let nth = 0; nth < 512; nth += 1) meter.push(chunk);
    const { user, system } = process.threadCpuUsage(begun);
    return { meter, cpu: user + system };
  }
  let known: number | undefined;
  const plain = () => (known ??= measured('"name":"text",', "{").cpu);

  it.each([
    ["brackets", "[", ""],
    ["braces", "{", ""],
    ["quotes", '"', ""],
    ["backslashes", "\\", '{"'],
    ["names", '"usage":1,', "{"],
    ["a usage without end", " ", '{"usage":'],
    ["a name without end", "u", '{"'],
  ])("of %s take no more time and memory than others", (_, piece, first) => {
    const before = held();
    const { meter, cpu } = measured(piece, first);
    expect(meter.usage()).toBeUndefined();
    expect(cpu).toBeLessThan(3 * plain());
    expect(held() - before).toBeLessThan(2 * MIB);
    expect(meter.isFinal()).toBe(false);
  });
});
