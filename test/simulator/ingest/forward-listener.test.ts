import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { encode } from "@msgpack/msgpack";
import fc from "fast-check";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { eventTime, type ForwardSender, openSender, receivedBy } from "../forward-sender.ts";
import { serviceFor, stream } from "../pipelines.ts";
import { resource, startPlatform, unfailingPlatformForFile } from "../platform.ts";

const platform = await unfailingPlatformForFile();
const logging = serviceFor(platform, "logging");

let pipeline: Awaited<ReturnType<typeof logging.made>>;
let address: string;
beforeEach(async () => {
  pipeline = await logging.made({ logs: [stream(), stream({ tag: "web", protocol: "http" })] });
  address = String(resource(await logging.call("GET", pipeline.path)).properties.tcpAddress);
});

const at = Date.UTC(2026, 0, 31, 12, 0, 0, 250);
const shown = (record: object, time = "2026-01-31T12:00:00.250Z") => ({ tag: "k8s", at: time, record });
const items = async () => (await receivedBy(platform, pipeline.id)).items;

/** A sender with the key of the pipeline. */
async function known(): Promise<ForwardSender> {
  const sender = await openSender(platform, address);
  expect(await sender.greet(pipeline.key)).toMatchObject({ welcome: true });
  return sender;
}

function nested(depth: number): object {
  return depth === 0 ? {} : { in: nested(depth - 1) };
}

describe("the handshake", () => {
  it("lets in who knows a pipeline's key, and proves that the listener knows it too", async () => {
    const sender = await openSender(platform, address);
    expect(await sender.greet(pipeline.key)).toEqual({ welcome: true, reason: "", proven: true });
    sender.socket.destroy();
  });

  it("refuses a wrong key with a reason and ends the connection", async () => {
    const sender = await openSender(platform, address);
    expect(await sender.greet("wrong")).toEqual({ welcome: false, reason: "shared_key mismatch", proven: false });
    await sender.closed;
  });

  it("refuses the listener's own name", async () => {
    const sender = await openSender(platform, address);
    expect(await sender.greet(pipeline.key, { name: "logs.simulator" })).toMatchObject({ welcome: false });
    await sender.closed;
  });

  it("refuses a key that was replaced, and ends the connections that came with it", async () => {
    const sender = await known();
    await logging.call("POST", `${pipeline.path}/key`, {});
    sender.send(["k8s", 1, { message: "late" }, { chunk: "c" }]);
    await sender.closed;
    const again = await openSender(platform, address);
    expect(await again.greet(pipeline.key)).toMatchObject({ welcome: false });
    expect(await items()).toEqual([]);
  });

  it("refuses the key of a pipeline that is being deleted", async () => {
    await logging.call("DELETE", pipeline.path);
    const sender = await openSender(platform, address);
    expect(await sender.greet(pipeline.key)).toMatchObject({ welcome: false });
  });

  it.each([
    ["lines before it", ["k8s", 1, { message: "early" }]],
    ["a PING of three parts", ["PING", "sender", "salt"]],
    ["a sign of life", null],
    ["a list that says it has a billion members", Buffer.from([0xdd, 0x40, 0, 0, 0])],
  ])("ends a connection that sends %s", async (_, message) => {
    const sender = await openSender(platform, address);
    if (Buffer.isBuffer(message)) sender.socket.write(message);
    else sender.send(message);
    await sender.closed;
    expect(await items()).toEqual([]);
  });
});

describe("the four modes", () => {
  const first = [eventTime(at), { message: "one", level: 3 }];
  const second = [eventTime(at), { message: "two", nested: { list: [1, true, null, "ü"] } }];
  const packed = Buffer.concat([encode(first), encode(second)]);
  const both = [shown({ message: "one", level: 3 }), shown({ message: "two", nested: { list: [1, true, null, "ü"] } })];

  it.each([
    ["Message", ["k8s", ...first, { chunk: "c1" }], both.slice(0, 1)],
    ["Forward", ["k8s", [first, second], { chunk: "c1" }], both],
    ["PackedForward", ["k8s", packed, { chunk: "c1", size: 2 }], both],
    ["CompressedPackedForward", ["k8s", gzipSync(packed), { chunk: "c1", compressed: "gzip" }], both],
    [
      "CompressedPackedForward in several members",
      ["k8s", Buffer.concat([gzipSync(encode(first)), gzipSync(encode(second))]), { chunk: "c1", compressed: "gzip" }],
      both,
    ],
  ])("%s is stored and acknowledged", async (_, message, expected) => {
    const sender = await known();
    sender.send(message);
    expect(await sender.next()).toEqual({ ack: "c1" });
    expect(await items()).toEqual(expected);
    sender.socket.destroy();
  });

  it("PackedForward may call its bytes text, as older agents do", async () => {
    const sender = await known();
    const head = Buffer.from([0x92, 0xa3, 0x6b, 0x38, 0x73, 0xda, 0, packed.length]);
    sender.socket.write(Buffer.concat([head, packed]));
    await expect.poll(items).toEqual(both);
    sender.socket.destroy();
  });

  it("take whole seconds, fractions of them, and times beside metadata", async () => {
    const sender = await known();
    sender.send(
      ["k8s", 1_769_860_800, { n: 1 }],
      ["k8s", 1_769_860_800.5, { n: 2 }],
      ["k8s", [[[eventTime(at), { kept: "aside" }], { n: 3 }]]],
    );
    const times = ["2026-01-31T12:00:00.000Z", "2026-01-31T12:00:00.500Z", "2026-01-31T12:00:00.250Z"];
    await expect.poll(items).toEqual(times.map((time, index) => shown({ n: index + 1 }, time)));
    sender.socket.destroy();
  });

  it("keep bytes as text and numbers exact", async () => {
    const sender = await known();
    sender.send(["k8s", eventTime(at), { bytes: Buffer.from("raw"), small: -7n, large: 2n ** 60n }]);
    await expect.poll(items).toEqual([shown({ bytes: "raw", small: -7, large: "1152921504606846976" })]);
    sender.socket.destroy();
  });

  it("arrive whole, however the network cuts them", async () => {
    const sender = await known();
    sender.socket.setNoDelay(true);
    const bytes = encode(["k8s", [first, second], { chunk: "cut" }]);
    for (const byte of bytes) await new Promise((resolve) => sender.socket.write(Buffer.from([byte]), resolve));
    expect(await sender.next()).toEqual({ ack: "cut" });
    expect(await items()).toEqual(both);
    sender.socket.destroy();
  });

  it("a sign of life carries nothing", async () => {
    const sender = await known();
    sender.send(null, ["k8s", ...first, { chunk: "after" }]);
    expect(await sender.next()).toEqual({ ack: "after" });
    expect(await items()).toEqual(both.slice(0, 1));
    sender.socket.destroy();
  });
});

describe("tags", () => {
  it.each([
    ["other", 'the pipeline has no log with the tag "other"'],
    ["web", 'the log "web" takes http, not tcp'],
  ])("%s is acknowledged and counted, but not stored", async (tag, reason) => {
    const sender = await known();
    sender.send([
      tag,
      [
        [1, { n: 1 }],
        [2, { n: 2 }],
      ],
      { chunk: "c" },
    ]);
    expect(await sender.next()).toEqual({ ack: "c" });
    expect(await receivedBy(platform, pipeline.id)).toMatchObject({
      lines: 0,
      refused: { count: 2, reason },
      items: [],
    });
    sender.socket.destroy();
  });
});

describe("broken input", () => {
  const gzip = { compressed: "gzip" };
  it.each<[string, unknown]>([
    ["no list", { tag: "k8s" }],
    ["no time", ["k8s", "yesterday", {}]],
    ["a time beyond the calendar", ["k8s", 2 ** 62, {}]],
    ["a record that is none", ["k8s", 1, "text"]],
    ["packed entries that end too early", ["k8s", encode([1, { message: "cut" }]).subarray(0, -1)]],
    ["packed entries that are none", ["k8s", encode("text")]],
    ["gzip that is none", ["k8s", Buffer.from("no gzip"), gzip]],
    ["gzip that unpacks to too much", ["k8s", gzipSync(Buffer.alloc(17 * 1024 * 1024)), gzip]],
    ["an unknown compression", ["k8s", Buffer.alloc(0), { compressed: "lz4" }]],
    ["a record nested without end", ["k8s", 1, { deep: nested(101) }]],
  ])("with %s ends its own connection and no other", async (_, message) => {
    const [broken, sound] = [await known(), await known()];
    broken.send(message);
    await broken.closed;
    sound.send(["k8s", eventTime(at), { message: "sound" }, { chunk: "c" }]);
    expect(await sound.next()).toEqual({ ack: "c" });
    expect(await items()).toEqual([shown({ message: "sound" })]);
    sound.socket.destroy();
  });

  it.each([
    ["bytes", [0x92, 0xa1, 0x61, 0xc6, 0x7f, 255, 255, 255]],
    ["lists in lists", [0x92, 0xa1, 0x61, ...Array.from({ length: 50 }, () => [0xdd, 0, 0xff, 0xff, 0xff]).flat()]],
  ])("that announces too many %s is not waited for", async (_, bytes) => {
    const sender = await known();
    sender.socket.write(Buffer.from(bytes));
    await sender.closed;
  });

  it("of any kind leaves the listener as it was", { timeout: 60_000 }, async () => {
    const soup = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.jsonValue().map((value) => encode(value)),
      fc.tuple(fc.constant("k8s"), fc.jsonValue(), fc.jsonValue()).map((value) => encode(value)),
    );
    await fc.assert(
      fc.asyncProperty(soup, fc.boolean(), async (bytes, greeted) => {
        const sender = greeted ? await known() : await openSender(platform, address);
        sender.socket.end(bytes);
        await sender.closed;
      }),
      { numRuns: 60 },
    );
    const sender = await known();
    sender.send(["k8s", eventTime(at), { message: "still here" }, { chunk: "c" }]);
    expect(await sender.next()).toEqual({ ack: "c" });
    sender.socket.destroy();
  });
});

describe("after a restart with the same data directory", () => {
  it("senders keep their key and their trust, and neither keys nor lines are in its files", async () => {
    const data = mkdtempSync(join(tmpdir(), "simulator-"));
    onTestFinished(() => rmSync(data, { recursive: true, force: true }));
    const first = await startPlatform({ data });
    const { id, key } = await serviceFor(first, "logging").made();
    await first.close();

    const second = await startPlatform({ data });
    onTestFinished(() => second.close());
    const { tcpAddress } = resource(await serviceFor(second, "logging").call("GET", `/pipelines/${id}`)).properties;
    const trusting = { ...second, ready: { ...second.ready, certificates: first.ready.certificates } };
    const sender = await openSender(trusting, String(tcpAddress));
    expect(await sender.greet(key)).toMatchObject({ welcome: true, proven: true });
    sender.send(["k8s", eventTime(at), { message: "again" }, { chunk: "c" }]);
    expect(await sender.next()).toEqual({ ack: "c" });
    expect(await receivedBy(second, id)).toMatchObject({ lines: 1 });
    sender.socket.destroy();
    const written = readdirSync(data, { recursive: true, withFileTypes: true })
      .filter((each) => each.isFile())
      .map((each) => readFileSync(join(each.parentPath, each.name), "utf8"));
    expect(written.filter((text) => text.includes("again") || text.includes(key))).toEqual([]);
  });
});
