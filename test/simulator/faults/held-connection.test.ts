import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { items, platformForFile, startPlatform } from "../platform.ts";

const platform = await platformForFile();
afterEach(() => platform.faults());

const route = "POST /cloudapi/v6/datacenters";
const held = { fault: "held-connection", route };
const callsShape = z.object({ byRoute: z.record(z.string(), z.number()) });
const arrived = async () => callsShape.parse(await platform.steer("GET", "calls")).byRoute[route] ?? 0;

/** Sends a creation over its own connection. Resolves when the simulator has received all of it. */
async function send(name: string): Promise<Socket> {
  const before = await arrived();
  const { hostname, port } = new URL(platform.ready.endpoints.api);
  const socket = connect(Number(port), hostname).on("error", () => {});
  await once(socket, "connect");
  const body = JSON.stringify({ properties: { name, location: "de/fra" } });
  const head = [
    "POST /cloudapi/v6/datacenters HTTP/1.1",
    `Host: ${hostname}:${port}`,
    `Authorization: Bearer ${platform.ready.token}`,
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n${body}`);
  await vi.waitUntil(async () => (await arrived()) > before, { timeout: 60_000 });
  return socket;
}

const leave: Record<string, (socket: Socket) => void> = {
  "resets the connection": (socket) => socket.resetAndDestroy(),
  "closes it": (socket) => socket.destroy(),
  "ends its half of it": (socket) => socket.end(),
};

const count = async (name: string) => {
  await platform.advance(10);
  return items(await platform.core("GET", `/datacenters?depth=1&filter.name=${name}`)).length;
};
const untilMade = (name: string) => vi.waitUntil(async () => (await count(name)) > 0, { timeout: 60_000 });

describe("held-connection", () => {
  it("executes nothing and answers nothing as long as it holds the request", async () => {
    await platform.faults({ ...held, seconds: 3600 });
    const socket = await send("held");
    const answered = vi.fn();
    socket.on("data", answered);
    expect(await count("held")).toBe(0);
    expect(answered).not.toHaveBeenCalled();
    socket.destroy();
  });

  it("then executes it, and answers whoever has waited", async () => {
    await platform.faults({ ...held, seconds: 0.1 });
    const socket = await send("patient");
    const [answer] = await once(socket, "data");
    expect(String(answer)).toMatch(/^HTTP\/1\.1 202 /);
    expect(await count("patient")).toBe(1);
    socket.destroy();
  });

  it.each(Object.keys(leave))("executes it also when the caller %s meanwhile", async (how) => {
    await platform.faults({ ...held, seconds: 0.3 });
    const name = how.replaceAll(" ", "-");
    leave[how]?.(await send(name));
    await untilMade(name);
    expect(await count(name)).toBe(1);
  });

  it("drops what a reset is meant to drop, and executes what comes before an orderly end", async () => {
    await platform.faults({ ...held, seconds: 3, resetDrops: true });
    leave["resets the connection"]?.(await send("dropped"));
    leave["closes it"]?.(await send("kept-closed"));
    leave["ends its half of it"]?.(await send("kept-ended"));
    // The request that was held first would run first.
    await untilMade("kept-ended");
    expect(await count("kept-closed")).toBe(1);
    expect(await count("dropped")).toBe(0);
  });

  it("says in the activity log where a late request came from", async () => {
    const log = async () => JSON.stringify((await platform.call("GET", logPath)).body);
    const logPath = `/activitylog/v1/contracts/${platform.ready.contractNumber}?limit=1000`;
    await platform.faults({ ...held, seconds: 0.1 });
    leave["resets the connection"]?.(await send("late"));
    await untilMade("late");
    expect(await log()).not.toContain('"sourceIP":"","serviceHost":"127');
  });

  it("is dropped when the simulator ends", async () => {
    const other = await startPlatform();
    await other.faults({ ...held, seconds: 3600 });
    const call = other.core("POST", "/datacenters", { properties: { name: "late", location: "de/fra" } });
    const failed = expect(call).rejects.toThrow();
    await vi.waitUntil(async () => callsShape.parse(await other.steer("GET", "calls")).byRoute[route] !== undefined, {
      timeout: 60_000,
    });
    await other.close();
    await failed;
  });
});

describe("date-header", () => {
  const dateOf = async (path: string) => {
    const { headers } = await platform.core("GET", path);
    return Date.parse(headers.get("date") ?? "");
  };

  it.each([40_000_000, -40_000_000, 600])("is off by %i seconds, and no timestamp is", async (seconds) => {
    const path = await platform.datacenter();
    const honest = await platform.core("GET", path);
    await platform.faults({ fault: "date-header", seconds });
    const off = (await dateOf(path)) - Date.parse(honest.headers.get("date") ?? "");
    // The platform's clock hardly moves in this test, and the header has whole seconds.
    expect(Math.abs(off - seconds * 1000)).toBeLessThanOrEqual(60_000);
    expect((await platform.core("GET", path)).body).toEqual(honest.body);
  });

  it("is that of all answers: refusals, answers of a gateway, streams", async () => {
    const seconds = 40_000_000;
    const year = new Date((await dateOf("/contracts")) + seconds * 1000).getUTCFullYear();
    const yearOf = ({ headers }: { headers: Headers }) => new Date(headers.get("date") ?? "").getUTCFullYear();
    await platform.faults({ fault: "date-header", seconds });
    expect(yearOf(await platform.core("GET", "/datacenters/none"))).toBe(year);
    await platform.faults({ fault: "date-header", seconds }, { fault: "404-everything" });
    expect(yearOf(await platform.core("GET", "/datacenters"))).toBe(year);
    await platform.faults({ fault: "date-header", seconds });
    const messages = [{ role: "user", content: "hello" }];
    const streamed = await fetch(`${platform.ready.endpoints.inference}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${platform.ready.token}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "openai/gpt-oss-120b", messages, stream: true }),
    });
    await streamed.text();
    expect(streamed.status).toBe(200);
    expect(yearOf(streamed)).toBe(year);
  });

  it("adds to clock-skew, and has a limit", async () => {
    const honest = await dateOf("/contracts");
    await platform.faults({ fault: "date-header", seconds: 7200 }, { fault: "clock-skew", seconds: -3600 });
    expect(Math.abs((await dateOf("/contracts")) - honest - 3_600_000)).toBeLessThanOrEqual(60_000);
    const plan = { rules: [{ fault: "date-header", seconds: 40_000_001 }] };
    expect((await platform.call("PUT", "/_simulator/faults", plan)).status).toBe(422);
  });
});
