import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { refusalMeter, streamMeter, wholeMeter } from "../../src/gateway/answer/meter.ts";
import { redact, redacting, secretsIn } from "../../src/gateway/answer/redact.ts";
import { chatModel, startGateway } from "./running.ts";
import { scriptedPlatform } from "./scripted-platform.ts";

const signature = "c2lnbmF0dXJlLW9mLXRoZS10b2tlbg";
const token = `eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJnYXRld2F5In0.${signature}`;
const header = `Bearer ${token}`;
const secrets = secretsIn([header]);

/** The output when the bytes arrive in pieces of these sizes. */
function through(meter: ReturnType<typeof wholeMeter>, bytes: Buffer, sizes: readonly number[]): Buffer {
  const out: Buffer[] = [];
  for (let at = 0, nth = 0; at < bytes.length; nth += 1) {
    const size = sizes[nth % sizes.length] ?? 1;
    out.push(meter.push(bytes.subarray(at, at + size)));
    at += size;
  }
  return Buffer.concat([...out, meter.end()]);
}

describe("the platform's token", () => {
  const pieces = fc.constantFrom(header, token, signature, token.slice(0, 30), "Bearer ", "e", "ey", "ü", "\n", " ");
  const sizes = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1 });

  it("does not pass, however the answer is cut, and nothing else changes", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(pieces, fc.string({ unit: "grapheme" }))), sizes, (texts, cuts) => {
        const text = `${texts.join("")}\n`;
        const out = through(redacting(wholeMeter(), secrets), Buffer.from(text), cuts).toString();
        expect(out).not.toContain(signature);
        expect(out).toBe(redact(text, secrets));
      }),
    );
  });

  it("does not pass in part where the answer ends within it", () => {
    const meter = redacting(refusalMeter(), secrets);
    const out = through(meter, Buffer.from("x".repeat(65_536 - token.length + 1) + token), [10_000]).toString();
    expect(out).toBe(`${"x".repeat(65_536 - token.length + 1)}[redacted]`);
  });

  it("holds no event back", () => {
    const meter = redacting(streamMeter(false), secrets);
    const event = Buffer.from('data: {"choices":[{"delta":{"content":"eyJhbGciOiJSUzI1NiJ9"}}]}\n\n');
    expect(meter.push(event).toString()).toBe(event.toString());
  });

  it("leaves an answer without it as it is, byte by byte", () => {
    const bytes = Buffer.from([0xff, 0xfe, 0x65, 0x00, 0xc3]);
    expect(through(redacting(wholeMeter(), secrets), bytes, [2])).toEqual(bytes);
  });
});

describe("the gateway's token in an answer of 200", async () => {
  const platform = await scriptedPlatform((_, response) => void response.end());
  const gateway = await startGateway({
    upstream: platform.upstream,
    credentials: async () => ({ authorization: header }),
    accesses: [{ namespace: "shop", name: "chat", models: [chatModel] }],
  });
  const call = (path: string, body?: object) =>
    fetch(`${gateway.url}${path}`, {
      headers: { authorization: "Bearer token-of-shop", "content-type": "application/json" },
      ...(body && { method: "POST", body: JSON.stringify({ model: chatModel, ...body }) }),
    });
  const base = { id: "c1", created: 1, model: chatModel };
  const said = JSON.stringify({
    ...base,
    choices: [{ index: 0, message: { role: "assistant", content: `it is ${token}.` } }],
  });
  const streamed = `data: ${JSON.stringify({ ...base, choices: [{ index: 0, delta: { content: `it is ${token}.` } }] })}\n\n`;
  const listed = JSON.stringify({ data: [{ id: chatModel, owned_by: `it is ${token}.` }] });
  const messages = [{ role: "user", content: "hello" }];

  it.each([
    ["a whole answer", "/v1/chat/completions", { messages }, "application/json", said],
    ["a stream", "/v1/chat/completions", { messages, stream: true }, "text/event-stream", streamed],
    ["a response", "/v1/responses", { input: "hello" }, "application/json", said],
    ["a streamed response", "/v1/responses", { input: "hello", stream: true }, "text/event-stream", streamed],
    ["the list of models", "/v1/models", undefined, "application/json", listed],
  ])("does not reach the client: %s", async (_, path, body, type, answer) => {
    const middle = answer.indexOf(signature) + 5;
    platform.answer = (_, response) => {
      response.writeHead(200, { "content-type": type, "x-request-id": `id-${token}`, "retry-after": signature });
      response.write(answer.slice(0, middle), () => setImmediate(() => response.end(answer.slice(middle))));
    };
    const answered = await call(path, body);
    expect(answered.status).toBe(200);
    const text = await answered.text();
    expect(text).toContain("it is [redacted].");
    expect(text).not.toContain(signature);
    expect(JSON.stringify([...answered.headers])).not.toContain(signature);
  });
});
