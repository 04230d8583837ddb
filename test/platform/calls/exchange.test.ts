import { Agent, Dispatcher } from "undici";
import { afterAll, describe, expect, test, vi } from "vitest";
import { exchange, NoAnswer } from "../../../src/platform/calls/exchange.ts";
import { answer, scriptedServer } from "../scripted-server.ts";

const agent = new Agent();
afterAll(() => agent.destroy());

describe("an exchange", () => {
  test("returns the whole answer, whatever its status", async () => {
    await using server = await scriptedServer(answer(418, "x".repeat(60_000), { "X-Odd": "1" }));
    const outgoing = { method: "PUT", url: new URL(`${server.url}/a?b=c`), headers: { x: "y" }, body: "hello" };
    const { status, headers, text } = await exchange(agent, outgoing, 1_000_000, new AbortController().signal);
    expect([status, text.length, headers["x-odd"]]).toEqual([418, 60_000, "1"]);
    expect(server.arrived).toMatchObject([{ method: "PUT", url: "/a?b=c", body: "hello", headers: { x: "y" } }]);
  });

  test("ends when the answer is longer than anybody would keep", async () => {
    await using server = await scriptedServer(answer(200, "x".repeat(10_000)));
    const outgoing = { method: "GET", url: new URL(server.url), headers: {} };
    const receiving = exchange(agent, outgoing, 9_999, new AbortController().signal);
    await expect(receiving).rejects.toMatchObject({ name: "NoAnswer", sent: true, reset: false });
  });

  test("with an aborted signal sends nothing", async () => {
    await using server = await scriptedServer(answer(200));
    const outgoing = { method: "POST", url: new URL(server.url), headers: {} };
    await expect(exchange(agent, outgoing, 1, AbortSignal.abort())).rejects.toMatchObject({ sent: false });
    expect(server.arrived).toHaveLength(0);
  });

  test("that was given up while it waited for a socket does not begin when one is there", async () => {
    class Waiting extends Dispatcher {
      handler: Dispatcher.DispatchHandler | undefined;
      override dispatch(_: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
        this.handler = handler;
        return true;
      }
    }
    const waiting = new Waiting();
    const giveUp = new AbortController();
    const outgoing = { method: "POST", url: new URL("http://127.0.0.1:9"), headers: {} };
    const sending = exchange(waiting, outgoing, 1, giveUp.signal);
    giveUp.abort();
    await expect(sending).rejects.toMatchObject({ sent: false });
    const abort = vi.fn();
    const idle = { aborted: false, paused: false, reason: null, pause() {}, resume() {} };
    waiting.handler?.onRequestStart?.({ ...idle, abort }, {});
    expect(abort).toHaveBeenCalledOnce();
  });

  test("with headers that cannot be sent sends nothing", async () => {
    const outgoing = { method: "POST", url: new URL("http://127.0.0.1:9"), headers: { "bad header": "x" } };
    const failing = exchange(agent, outgoing, 1, new AbortController().signal);
    await expect(failing).rejects.toBeInstanceOf(NoAnswer);
    await expect(failing).rejects.toMatchObject({ sent: false });
  });
});
