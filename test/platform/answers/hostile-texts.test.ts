import { afterEach, describe, expect, test } from "vitest";
import { type Connection, createTransport, type Transport } from "../../../src/platform/calls/transport.ts";
import { readContract, requestStatus } from "../../../src/platform/products/core.ts";
import { regionalCollection } from "../../../src/platform/products/regional.ts";
import { fakeClock } from "../../fake-clock.ts";
import { answer, scriptedServer } from "../scripted-server.ts";

const transports: Transport[] = [];
afterEach(async () => {
  for (const transport of transports.splice(0)) await transport.close();
});

function connect(): Connection {
  const transport = createTransport({ clock: fakeClock(), random: () => 0 });
  transports.push(transport);
  return transport.connect("ns/account", { token: "token" });
}

const never = new AbortController().signal;

describe("texts of the platform", () => {
  const evil = `a\u0000b\r\n[INPUT]\u2028c\u202ed\u0085e\ud800f\t g`;
  const plain = "ab [INPUT] cd ef g";

  test("have no control characters, and an end", async () => {
    await using server = await scriptedServer(
      answer(422, { messages: [{ errorCode: `${evil}${"9".repeat(500)}`, message: evil }] }),
    );
    const error = await connect()
      .send({ method: "POST", url: server.url })
      .catch((reason: unknown) => reason);
    expect(error).toMatchObject({ platformMessage: plain, message: expect.stringContaining(`: ${plain} (code `) });
    expect(Reflect.get(Object(error), "errorCode")).toHaveLength(64);
  });

  test("why a request failed, and why a resource does not work, likewise", async () => {
    const message = evil + "x".repeat(5_000);
    await using server = await scriptedServer(answer(200, { metadata: { status: "FAILED", message } }));
    const state = await requestStatus(connect(), `${server.url}/requests/r/status`);
    expect(state.message).toMatch(/^ab \[INPUT\] cd ef gx+…$/);
    expect(state.message).toHaveLength(1_024);
    const metadata = { state: `FAILED${evil}`, statusMessage: message };
    server.script = answer(200, { items: [{ id: "i", metadata }] });
    const source = regionalCollection(connect(), server.url, "/pipelines", "monitoring");
    const [item] = await source.list(never, "normal");
    expect(item?.state).toBe(`FAILED${plain}`);
    expect(item && source.failure?.(item)).toBe(state.message);
  });

  test("about a contract are few and short", async () => {
    const resourceLimits = Object.fromEntries(Array.from({ length: 4_000 }, (_, n) => [`limit${n}`, n]));
    const owner = "o".repeat(5_000);
    const odd = { "not a name\n": 1, [`x${"y".repeat(100)}`]: 2, ...resourceLimits };
    const properties = { contractNumber: 1, owner, resourceLimits: odd };
    await using server = await scriptedServer(answer(200, { items: [{ properties }] }));
    const contract = await readContract(connect(), server.url);
    expect(Object.keys(contract.limits)).toHaveLength(100);
    expect(contract.limits).toMatchObject({ limit0: 0, limit99: 99 });
    expect(contract.owner).toHaveLength(256);
  });
});
