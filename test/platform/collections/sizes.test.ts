import { expect, test } from "vitest";
import type { Connection } from "../../../src/platform/calls/connection.ts";
import { keptItem, sizeOf } from "../../../src/platform/collections/kept-item.ts";
import { toLogPipeline } from "../../../src/platform/export/log-pipeline.ts";
import { createLazyJson } from "../../../src/runtime/lazy-json.ts";

test("a kept item takes as many bytes as its text", () => {
  const size = (raw: unknown) => sizeOf(keptItem({ id: "1", state: undefined, raw }));
  expect(size("ä".repeat(100)) - size("")).toBe(200);
  expect(size("a".repeat(100)) - size("")).toBe(100);
});

test("a text of more bytes than allowed is parsed on each use", () => {
  const { get } = createLazyJson<unknown>(12);
  const [short, wide] = [{ text: '["aaaaaaaa"]' }, { text: '["äääääääa"]' }];
  expect(get(short)).toBe(get(short));
  expect(get(wide)).not.toBe(get(wide));
});

test("a call to a log pipeline has about one megabyte, whatever characters it has", async () => {
  const sent: number[] = [];
  const connection: Connection = {
    id: "logs",
    async send({ bytes }) {
      sent.push(bytes?.length ?? 0);
      return { status: 200, headers: {}, body: undefined };
    },
    setCredentials() {},
    identity: undefined,
    contractNumber: undefined,
    close: async () => {},
  };
  const place = { httpAddress: "https://logs.example", tag: "t", key: "k" };
  const text = JSON.stringify("ä".repeat(50_000));
  const lines = Array.from({ length: 30 }, (_, time) => ({ id: `${time}`, time, text }));
  const window = { period: { from: 0, to: 30 }, total: lines.length, lines };
  await toLogPipeline(connection, place, () => {}).deliver(window);
  expect(sent).toHaveLength(3);
  expect(Math.max(...sent)).toBeLessThan(1024 * 1024 + 100);
});
