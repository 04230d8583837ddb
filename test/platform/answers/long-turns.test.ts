import { afterEach, describe, expect, test } from "vitest";
import { type Connection, createTransport, type Transport } from "../../../src/platform/calls/transport.ts";
import { regionalCollection } from "../../../src/platform/products/regional.ts";
import { systemClock } from "../../../src/runtime/clock.ts";
import { answer, scriptedServer } from "../scripted-server.ts";

const transports: Transport[] = [];
afterEach(async () => {
  for (const transport of transports.splice(0)) await transport.close();
});

function connect(): Connection {
  const transport = createTransport({ clock: systemClock, random: () => 0 });
  transports.push(transport);
  return transport.connect("ns/account", { token: "token" });
}

const MIB = 1024 * 1024;

/**
 * The longest turn of the event loop during `work`, in times of `JSON.parse` for a list of 2,500 servers, as measured just
 * before and after. Both are CPU time of this thread, so that neither other processes nor a slow machine count. The best of
 * three runs, because a garbage collection may run in one of them.
 */
async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  await work();
  const units = [parseMs(), parseMs()];
  const turns = [];
  for (let n = 0; n < 3; n++) {
    turns.push(await longestTurnMs(work));
    units.push(parseMs());
  }
  return Math.min(...turns) / Math.min(...units);
}

/** At most 50 ms on a machine that parses the list in 8 ms. */
const LONGEST = 6;

async function longestTurnMs(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let before = cpuMs();
  const look = () => {
    const now = cpuMs();
    longest = Math.max(longest, now - before);
    before = now;
    looking = setImmediate(look);
  };
  let looking = setImmediate(look);
  try {
    await work();
  } finally {
    clearImmediate(looking);
  }
  return longest;
}

function parseMs(): number {
  const before = cpuMs();
  JSON.parse(servers);
  return cpuMs() - before;
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

const servers = JSON.stringify({ items: Array.from({ length: 2_500 }, (_, n) => deepServer(n)) });

function deepServer(n: number) {
  const child = (type: string) => ({
    id: `${type}-${n}`,
    type,
    metadata: { etag: "45480eb3fbfc31f1d916c1eaa4abdcc3", createdDate: "2026-01-01T00:00:00Z", state: "AVAILABLE" },
    properties: { name: `${type} ${n}`, size: 20, ips: ["10.0.0.1"], dhcp: true },
  });
  const entities = { volumes: { items: [child("volume"), child("volume")] }, nics: { items: [child("nic")] } };
  return { ...child("server"), properties: { name: `server "${n}" \\ ü`, cores: 4, ram: 4096 }, entities };
}

describe("an answer", () => {
  test.each([
    ["a list of servers", servers],
    ["empty objects", `{"items":[${"{},".repeat(199_000)}{}]}`],
    ["objects of which no two are alike", `[${Array.from({ length: 150_000 }, (_, n) => `{"k${n}":1}`).join(",")}]`],
    ["one text in escapes", `["${"\\u0001".repeat(MIB / 2)}"]`],
    ["one text", `["${"\\n".repeat(2 * MIB - 10)}"]`],
  ])("of nearly the size that is allowed takes no long turn of the event loop: %s", async (_, body) => {
    await using server = await scriptedServer(answer(200, body));
    const connection = connect();
    const bodies: unknown[] = [];
    const read = async () => bodies.push((await connection.send({ method: "GET", url: server.url })).body);
    expect(await longestTurn(read)).toBeLessThan(LONGEST);
    expect(JSON.stringify(bodies.at(-1)) === body).toBe(true);
  });

  test("may be larger where that was asked for, and takes no longer turns for that", async () => {
    const body = { servers: { items: Array.from({ length: 6_000 }, (_, n) => deepServer(n % 10)) } };
    await using server = await scriptedServer(answer(200, JSON.stringify(body)));
    const call = { method: "GET", url: server.url, maxBytes: 16 * MIB } as const;
    const connection = connect();
    const bodies: unknown[] = [];
    const read = async () => bodies.push((await connection.send(call)).body);
    expect(await longestTurn(read)).toBeLessThan(2 * LONGEST);
    expect(JSON.stringify(bodies.at(-1)) === JSON.stringify(body)).toBe(true);
  });
});

test("a list of the most items that are allowed takes no long turn of the event loop", async () => {
  const items = Array.from({ length: 59_999 }, (_, n) => ({ id: `i${n}`, metadata: { state: "AVAILABLE" } }));
  await using server = await scriptedServer(answer(200, { items, limit: 60_000 }));
  const source = regionalCollection(connect(), server.url, "/pipelines", "monitoring");
  expect(await longestTurn(() => source.list(new AbortController().signal, "normal"))).toBeLessThan(LONGEST);
});
