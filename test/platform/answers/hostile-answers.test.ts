import { afterEach, describe, expect, test } from "vitest";
import { type Connection, createTransport, type Transport } from "../../../src/platform/calls/transport.ts";
import { coreCollection } from "../../../src/platform/products/core.ts";
import { regionalCollection } from "../../../src/platform/products/regional.ts";
import { fakeClock } from "../../fake-clock.ts";
import { type Arrived, answer, type Script, scriptedServer } from "../scripted-server.ts";

const transports: Transport[] = [];
afterEach(async () => {
  for (const transport of transports.splice(0)) await transport.close();
});

function connect(clock = fakeClock()): Connection {
  const transport = createTransport({ clock, random: () => 0 });
  transports.push(transport);
  return transport.connect("ns/account", { token: "token" });
}

const never = new AbortController().signal;
const MIB = 1024 * 1024;

/** Sends the same piece forever, as fast as it is read. Reports the number of bytes after the other side closed. */
function flood(status: number, opening: string, piece: string): { script: Script; ended: Promise<number> } {
  const { promise: ended, resolve } = Promise.withResolvers<number>();
  const script: Script = (_, response) => {
    let sent = 0;
    const more = () => {
      while (!response.destroyed && sent < 256 * MIB) {
        sent += piece.length;
        if (!response.write(piece)) return;
      }
      response.end();
    };
    response.writeHead(status, { "content-type": "application/json" });
    response.on("drain", more);
    response.on("close", () => resolve(sent));
    response.write(opening);
    more();
  };
  return { script, ended };
}

describe("an answer", () => {
  test("of empty objects without end is read up to 4 MiB, and the connection is ended", async () => {
    const { script, ended } = flood(200, '{"items":[{}', ",{}".repeat(20_000));
    await using server = await scriptedServer(script);
    const sending = connect().send({ method: "GET", url: `${server.url}/cloudapi/v6/datacenters` });
    await expect(sending).rejects.toMatchObject({ kind: "Retry", executed: "no", status: 200 });
    await expect(sending).rejects.toThrow("GET /cloudapi/v6/datacenters answered 200: the answer is larger than 4 MiB");
    // The buffers of both sockets count as well.
    expect(await ended).toBeLessThan(24 * MIB);
  });

  test("that says beforehand that it is too large is not read at all", async () => {
    await using server = await scriptedServer((_, response) => {
      response.writeHead(202, { "content-length": String(5 * MIB) });
      response.write("{");
    });
    const sending = connect().send({ method: "POST", url: `${server.url}/x`, body: {} });
    await expect(sending).rejects.toMatchObject({ kind: "Retry", executed: "unknown", status: 202 });
    await expect(sending).rejects.toThrow("larger than 4 MiB");
  });

  test("that refuses is read no further than needed, however long it goes on", async () => {
    const { script, ended } = flood(403, '{"messages":[', '{"message":"no"},'.repeat(5_000));
    await using server = await scriptedServer(script);
    const connection = connect();
    const reading = connection.send({ method: "GET", url: `${server.url}/x` });
    await expect(reading).rejects.toMatchObject({ kind: "Forbidden", executed: "no", status: 403 });
    await expect(reading).rejects.toThrow("GET /x answered 403: an answer of more than 64 KiB");
    expect(await ended).toBeLessThan(24 * MIB);
    // A cut answer is not known to be the platform's error body.
    const writing = connection.send({ method: "POST", url: `${server.url}/x`, body: {} });
    await expect(writing).rejects.toMatchObject({ kind: "Retry", executed: "unknown", status: 403 });
  });

  test.each([
    ["nested too deeply", `${"[".repeat(65)}${"]".repeat(65)}`, "the answer is nested deeper than 64 levels"],
    ["of too many values", `[${"1,".repeat(400_000)}1]`, "the answer holds more than 400,000 values"],
    ["with too many fields", `{${fields(20_001)}}`, "an object in the answer has more than 5,000 fields"],
  ])("%s is refused", async (_, body, words) => {
    await using server = await scriptedServer(answer(200, body));
    const sending = connect().send({ method: "GET", url: `${server.url}/x` });
    await expect(sending).rejects.toMatchObject({ kind: "Retry", executed: "no", status: 200 });
    await expect(sending).rejects.toThrow(words);
  });
});

function fields(count: number): string {
  return Array.from({ length: count }, (_, n) => `"f${n}":${n}`).join(",");
}

describe("a list", () => {
  test.each(["..", "a/b", "", "x\n", "%2e", "a".repeat(129)])("with something that is no id fails: %j", async (id) => {
    await using server = await scriptedServer(answer(200, { items: [{ id }] }));
    const listing = regionalCollection(connect(), server.url, "/pipelines", "monitoring").list(never, "normal");
    await expect(listing).rejects.toThrow("unexpected body: items.0.id: not an id");
  });

  test("whose every page is full ends at 60,000 items", async () => {
    const clock = fakeClock();
    await using server = await scriptedServer(endless(1_000));
    const listing = coreCollection(connect(clock), server.url, "/datacenters", { depth: 1 }).list(never, "normal");
    const message = "GET /cloudapi/v6/datacenters answered 200: the list has more than 60,000 items";
    const failure = expect(listing).rejects.toMatchObject({ kind: "Retry", executed: "no", message });
    await driveUntilSettled(listing, () => clock.advance(500));
    await failure;
    expect(server.arrived.length).toBeLessThanOrEqual(61);
  });

  test("whose next link never ends stops after 200 pages", async () => {
    const clock = fakeClock();
    await using server = await scriptedServer(endless(1, { _links: { next: "more" } }));
    const listing = regionalCollection(connect(clock), server.url, "/pipelines", "monitoring").list(never, "normal");
    const failure = expect(listing).rejects.toThrow("GET /pipelines answered 200: the list has more than 200 pages");
    await driveUntilSettled(listing, () => clock.advance(500));
    await failure;
    expect(server.arrived).toHaveLength(200);
  });

  test("of large items ends at 64 MiB", async () => {
    await using server = await scriptedServer(endless(1_000, {}, "x".repeat(3_000)));
    const listing = coreCollection(connect(), server.url, "/datacenters", { depth: 1 }).list(never, "normal");
    await expect(listing).rejects.toThrow("the list is larger than 64 MiB");
    expect(server.arrived.length).toBeLessThanOrEqual(24);
  });

  test("whose pages are too large is read in smaller ones, then and later", async () => {
    const padding = "x".repeat(8_000);
    const all = Array.from({ length: 1_200 }, (_, n) => ({ id: `i${n}`, padding }));
    await using server = await scriptedServer((arrived, response, request) => {
      const { offset, limit } = paging(arrived);
      answer(200, { items: all.slice(offset, offset + limit) })(arrived, response, request);
    });
    const source = coreCollection(connect(), server.url, "/datacenters", { depth: 1 });
    expect(await source.list(never, "normal")).toHaveLength(1_200);
    expect(server.arrived.map((each) => paging(each).limit)).toEqual([1_000, 250, 250, 250, 250, 250]);
    await source.list(never, "normal");
    expect(server.arrived).toHaveLength(11);
  });
});

function paging({ url }: Arrived): { offset: number; limit: number } {
  const query = new URL(url, "http://x").searchParams;
  return { offset: Number(query.get("offset")), limit: Number(query.get("limit")) };
}

/** Every page is full, so there is always another one. */
function endless(size: number, envelope: object = {}, padding = ""): Script {
  return (arrived, response, request) => {
    const { offset } = paging(arrived);
    const items = Array.from({ length: size }, (_, n) => ({ id: `i${offset + n}`, padding }));
    answer(200, { items, ...envelope })(arrived, response, request);
  };
}

/** Moves the clock between real answers until the promise settles. */
async function driveUntilSettled(promise: Promise<unknown>, step: () => Promise<void>): Promise<void> {
  let settled = false;
  const settle = () => {
    settled = true;
  };
  promise.then(settle, settle);
  while (!settled) await step();
}
