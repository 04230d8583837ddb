import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
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

/** The text with some characters as JSON escapes. */
const escaped = (text: string, isEscaped: (nth: number) => boolean, isUpper = false, slashes = "\\") =>
  [...text]
    .map((each, nth) => {
      const hex = each.charCodeAt(0).toString(16).padStart(4, "0");
      return isEscaped(nth) ? `${slashes}u${isUpper ? hex.toUpperCase() : hex}` : each;
    })
    .join("");
const spellings: [string, (text: string) => string][] = [
  ["every character", (text) => escaped(text, () => true)],
  ["every character in upper case", (text) => escaped(text, () => true, true)],
  ["every second character", (text) => escaped(text, (nth) => nth % 2 === 1)],
  ["the first character", (text) => escaped(text, (nth) => nth === 0)],
  ["the last character", (text) => escaped(text, (nth) => nth === text.length - 1)],
];

describe("the platform's token in JSON escapes", () => {
  const word = "abcdefgh/ijkl+mnop-q/=";
  const own = secretsIn([`Bearer ${word}`]);
  const bits = fc.array(fc.boolean(), { minLength: 1 });
  const spelled = fc
    .tuple(fc.constantFrom(header, token, signature), bits, fc.boolean())
    .map(([text, which, isUpper]) => escaped(text, (nth) => which[nth % which.length] ?? false, isUpper));
  const ordinary = fc.constantFrom("\\", "\\u", "\\u0065", "\\u00fc", "\\n", '\\"', "e", "ey", "B", "u00", " ");
  const sizes = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1 });

  it("does not pass, however it is spelled and cut, and nothing else changes", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(spelled, ordinary)), sizes, (texts, cuts) => {
        const text = `${texts.join("")}\n`;
        const out = through(redacting(wholeMeter(), secrets), Buffer.from(text), cuts).toString();
        expect(out).toBe(redact(text, secrets));
        const decoded = out.replaceAll(/\\u([0-9a-f]{4})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
        expect(decoded).not.toContain(signature);
      }),
    );
  });

  it.each([
    ["a slash", word.replaceAll("/", "\\/")],
    ["one slash of two", word.replace("/", "\\/")],
    ["JSON within JSON", word.replaceAll("/", "\\\\/").replace("+", "\\\\u002B")],
    ["JSON within JSON, all of it", escaped(word, () => true, false, "\\\\")],
  ])("is found: %s", (_, text) => {
    for (let size = 1; size <= text.length; size += 1) {
      const meter = redacting(wholeMeter(), own);
      expect(through(meter, Buffer.from(`{"a":"${text}"}`), [size]).toString()).toBe('{"a":"[redacted]"}');
    }
  });

  it("does not pass in part where the answer ends within it, and a few characters do", () => {
    const cut = (count: number) => {
      const text = `it is ${escaped(token.slice(0, count), () => true)}`;
      return through(redacting(wholeMeter(), secrets), Buffer.from(text), [7]).toString();
    };
    expect(cut(token.length - 1)).toBe("it is [redacted]");
    expect(cut(5)).toBe(`it is ${escaped(token.slice(0, 5), () => true)}`);
  });

  it("is found if it is as long as a header can be", () => {
    const long = "aZ0-_".repeat(1600);
    const meter = redacting(wholeMeter(), secretsIn([`Bearer ${long}`]));
    const text = `"${escaped(long, (nth) => nth % 3 > 0)}"`;
    expect(through(meter, Buffer.from(text), [1000]).toString()).toBe('"[redacted]"');
  });

  it("costs an answer without it little, whatever escapes it has", () => {
    const meter = redacting(wholeMeter(), secrets);
    const begun = performance.now();
    for (const piece of ["\\", "\\u0065", "\\u0065\\u0079", "e", "\\u00fc", "eyJhbGciOiJSUzI1NiJ9."])
      for (let nth = 0; nth < 64; nth += 1) meter.push(Buffer.alloc(65_536, piece));
    expect(performance.now() - begun).toBeLessThan(5000);
  });
});

/** A text that contains the secret after so many other bytes, in base64. */
const base64 = (text: string, before: number) => Buffer.from(`${"<".repeat(before)}${text}>>`).toString("base64");
const percent = (text: string) => [...Buffer.from(text)].map((each) => `%${each.toString(16)}`).join("");
const codings: [string, (text: string) => string][] = [
  ...[0, 1, 2].flatMap((before): [string, (text: string) => string][] => [
    [`base64 after ${before} bytes`, (text) => base64(text, before)],
    [`base64url after ${before} bytes`, (text) => base64(text, before).replaceAll("+", "-").replaceAll("/", "_")],
  ]),
  ["base64 with escaped slashes", (text) => base64(text, 0).replaceAll("/", "\\/")],
  ["base64 in a query", (text) => encodeURIComponent(base64(text, 0))],
  ["hex", (text) => Buffer.from(text).toString("hex")],
  ["hex in upper case", (text) => Buffer.from(text).toString("hex").toUpperCase()],
  ["percent-encoding", percent],
  ["percent-encoding in upper case", (text) => percent(text).toUpperCase()],
  ["percent-encoding where necessary", encodeURIComponent],
];

describe("the platform's token in another coding", () => {
  const opaque = "ab?>cd~~ef/ghi+jkl==";
  const rows = codings.flatMap(([how, code]) => [
    { how, code, what: "a JWT", word: token },
    { how, code, what: "the header", word: header },
    { how, code, what: "a signature", word: signature },
    { how, code, what: "any other token", word: opaque },
  ]);

  it.each(rows)("does not pass, however it is cut: $what, $how", ({ code, word }) => {
    const own = secretsIn([word === opaque ? `Bearer ${opaque}` : header]);
    const coded = code(word);
    for (let size = 1; size <= coded.length + 10; size += 1) {
      const meter = redacting(wholeMeter(), own);
      const out = through(meter, Buffer.from(`{"a":"${coded}"}`), [size]).toString();
      // Without its signature, which is its end, a JWT is useless. A few characters belong to the text after it as well.
      expect(out).toMatch(/^\{"a":".*\[redacted\].{0,14}"\}$/);
      expect(out).toBe(`{"a":"${redact(coded, own)}"}`);
    }
  });

  it("does not pass in part where the answer ends within it", () => {
    for (const [, code] of codings) {
      const coded = code(signature);
      const out = through(redacting(wholeMeter(), secrets), Buffer.from(`it is ${coded.slice(0, -8)}`), [7]);
      expect(out.toString()).toMatch(/^it is .{0,4}\[redacted\]$/);
    }
  });
});

describe("the headers of an answer", async () => {
  const platform = await scriptedPlatform((_, response) => void response.end());
  const headersOf = async (headers: Record<string, string>) => {
    const gateway = await startGateway({
      upstream: platform.upstream,
      credentials: async () => ({ authorization: header }),
      accesses: [{ namespace: "shop", name: "chat", models: [chatModel] }],
    });
    onTestFinished(() => gateway.stop());
    platform.answer = (_, response) => void response.writeHead(200, headers).end("{}");
    const answered = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: "Bearer token-of-shop", "content-type": "application/json" },
      body: JSON.stringify({ model: chatModel, messages: [] }),
    });
    await answered.text();
    return answered.headers;
  };

  it.each([
    ["x-request-id", "req_01:a.b-C"],
    ["x-request-id", "a".repeat(128)],
    ["content-type", "application/json"],
    ["content-type", "application/problem+json; charset=utf-8"],
    ["content-type", 'text/event-stream;charset="UTF-8"'],
    ["retry-after", "120"],
    ["retry-after", "Wed, 21 Oct 2026 07:28:00 GMT"],
  ])("pass if they are plain: %s: %s", async (name, value) => {
    expect((await headersOf({ [name]: value })).get(name)).toBe(value);
  });

  it.each(["x-request-id", "content-type", "retry-after"])("do not pass if they are not: %s", async (name) => {
    for (const value of ["\\u0065".repeat(700), "a".repeat(129), "<b>", `id-${token}`, "a b\tc"]) {
      expect((await headersOf({ [name]: value })).get(name)).toBeNull();
    }
  });
});

describe("the gateway's token in an answer of 200", async () => {
  const platform = await scriptedPlatform((_, response) => void response.end());
  async function call(path: string, body?: object) {
    // Each call has a gateway of its own, because a list of models is kept for a minute.
    const gateway = await startGateway({
      upstream: platform.upstream,
      credentials: async () => ({ authorization: header }),
      accesses: [{ namespace: "shop", name: "chat", models: [chatModel] }],
    });
    onTestFinished(() => gateway.stop());
    return fetch(`${gateway.url}${path}`, {
      headers: { authorization: "Bearer token-of-shop", "content-type": "application/json" },
      ...(body && { method: "POST", body: JSON.stringify({ model: chatModel, ...body }) }),
    });
  }
  const base = { id: "c1", created: 1, model: chatModel };
  const said = JSON.stringify({
    ...base,
    choices: [{ index: 0, message: { role: "assistant", content: `it is ${token}.` } }],
  });
  const streamed = `data: ${JSON.stringify({ ...base, choices: [{ index: 0, delta: { content: `it is ${token}.` } }] })}\n\n`;
  const listed = JSON.stringify({ data: [{ id: chatModel, owned_by: `it is ${token}.` }] });
  const messages = [{ role: "user", content: "hello" }];

  const answers: [string, string, object | undefined, string, string][] = [
    ["a whole answer", "/v1/chat/completions", { messages }, "application/json", said],
    ["a stream", "/v1/chat/completions", { messages, stream: true }, "text/event-stream", streamed],
    ["a response", "/v1/responses", { input: "hello" }, "application/json", said],
    ["a streamed response", "/v1/responses", { input: "hello", stream: true }, "text/event-stream", streamed],
    ["the list of models", "/v1/models", undefined, "application/json", listed],
  ];
  const rows = [["as it is", (text: string) => text] as const, ...spellings].flatMap(([how, spell]) =>
    answers.map(([what, path, body, type, answer]) => ({ what, how, path, body, type, answer, spell })),
  );

  it.each(rows)("does not reach the client: $what, $how", async ({ path, body, type, answer: plain, spell }) => {
    const answer = plain.replace(token, () => spell(token));
    const middle = answer.indexOf("it is ") + Math.floor(spell(token).length * 0.8);
    platform.answer = (_, response) => {
      response.writeHead(200, { "content-type": type, "x-request-id": `id-${token}`, "retry-after": signature });
      response.write(answer.slice(0, middle), () => setImmediate(() => response.end(answer.slice(middle))));
    };
    const answered = await call(path, body);
    expect(answered.status).toBe(200);
    const text = await answered.text();
    expect(text).toContain("it is [redacted].");
    if (type === "application/json") expect(JSON.stringify(JSON.parse(text))).not.toContain(signature);
    expect(text).not.toContain(signature);
    expect(JSON.stringify([...answered.headers])).not.toContain(signature);
  });
});
