import { afterEach, describe, expect, test } from "vitest";
import { type Connection, createTransport, type Transport } from "../../../src/platform/calls/transport.ts";
import { fakeClock } from "../../fake-clock.ts";
import { answer, scriptedServer } from "../scripted-server.ts";

const token = "eyJhbGciOiJSUzI1NiJ9.eyJleHAiOjF9.c2lnbmF0dXJlLW9mLXRoZS10b2tlbg";

const transports: Transport[] = [];
afterEach(async () => {
  for (const transport of transports.splice(0)) await transport.close();
});

function connect(): Connection {
  const transport = createTransport({ clock: fakeClock(), random: () => 0 });
  transports.push(transport);
  return transport.connect("ns/account", { token });
}

/** A text in JSON escapes. */
function escaped(text: string): string {
  return [...text].map((each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
}

describe("an answer", () => {
  test("that quotes our token, in a failed request for example, is read without it", async () => {
    await using server = await scriptedServer(answer(200, { metadata: { message: `failed with ${token}` } }));
    const { body } = await connect().send({ method: "GET", url: server.url });
    expect(body).toEqual({ metadata: { message: "failed with [redacted]" } });
  });

  test.each([
    ["in JSON escapes", escaped],
    ["in escapes within a large answer", (text: string) => `${"x".repeat(200_000)} ${escaped(text)}`],
    ["partly in escapes", (text: string) => text.slice(0, 40) + escaped(text.slice(40))],
  ])("that spells our token %s is read without it", async (_, spell) => {
    const text = `{"items":[{"a":1},{"__proto__":"kept","key ${spell(token)}":["${spell(token)}"]}],"message":"\\u00fc"}`;
    await using server = await scriptedServer(answer(200, text));
    const { body } = await connect().send({ method: "GET", url: server.url });
    expect(JSON.stringify(body)).toBe(JSON.stringify(JSON.parse(text)).replaceAll(token, "[redacted]"));
  });

  test("about a failed request shows no piece of our token, however it is encoded", async () => {
    const hex = Buffer.from(token).toString("hex");
    const failed = { metadata: { status: "FAILED", message: `failed with ${hex}` } };
    const item = { id: "i", metadata: { state: "FAILED", statusMessage: `failed with ${token.slice(40, 60)}` } };
    const note = { metadata: { message: "two\nlines" }, items: [null, 1, { metadata: null }, item] };
    await using server = await scriptedServer(answer(200, failed));
    const connection = connect();
    const read = async () => (await connection.send({ method: "GET", url: server.url })).body;
    expect(await read()).toEqual({ metadata: { status: "FAILED", message: "failed with [redacted]" } });
    server.script = answer(200, note);
    const cleaned = { ...item, metadata: { ...item.metadata, statusMessage: "failed with [redacted]" } };
    expect(await read()).toEqual({ ...note, items: [null, 1, { metadata: null }, cleaned] });
  });
});
