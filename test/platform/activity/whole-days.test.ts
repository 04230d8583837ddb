import { expect, it } from "vitest";
import { createDeletionLogs } from "../../../src/platform/activity/deletion-logs.ts";
import { activityDeletions } from "../../../src/platform/activity/deletions.ts";
import { activityContract } from "../../../src/platform/activity/log.ts";
import { periodPage } from "../../../src/platform/activity/period.ts";
import { RETENTION_MS } from "../../../src/platform/activity/read.ts";
import { NotFound } from "../../../src/platform/answers/errors.ts";
import type { PlatformCall } from "../../../src/platform/calls/call.ts";
import { scriptedConnection } from "../../engine/support/fixtures.ts";
import { fakeClock } from "../../fake-clock.ts";

const api = "http://platform.test";
const HOUR = 3_600_000;
const start = Date.parse("2026-03-01T23:00:00Z");
const missing = () => new NotFound({ call: "GET", status: 404, detail: "there is no such path" });

/** A log that accepts only dates, and four fields of an entry. */
function described(entries: { at: number; action?: string; resource?: string }[]) {
  return scriptedConnection(({ url }: PlatformCall) => {
    const { pathname, searchParams } = new URL(url);
    if (pathname.endsWith("/contracts") && pathname.startsWith("/activitylog")) throw missing();
    if (pathname === "/cloudapi/v6/contracts") return { items: [{ properties: { contractNumber: 31 } }] };
    const from = Date.parse(searchParams.get("startDate") ?? "1970-01-01");
    const to = Date.parse(searchParams.get("endDate") ?? "2100-01-01") + 24 * HOUR;
    const inside = entries.filter(({ at }) => at >= from && at < to);
    const offset = Number(searchParams.get("offset"));
    const hits = inside.slice(offset, offset + Number(searchParams.get("limit"))).map(({ at, ...rest }) => ({
      _source: {
        time: new Date(at).toISOString(),
        user: "a@b",
        action: "vr.server.create",
        resource: "server/s1",
        ...rest,
      },
    }));
    return { hits: { total: inside.length, hits } };
  });
}

const everyMinute = (count: number) =>
  Array.from({ length: count }, (_, nth) => ({ at: start + nth * 60_000, resource: `server/s${nth}` }));

it("a time is cut out of whole days where the platform knows nothing smaller", async () => {
  const connection = described(everyMinute(120));
  const page = (offset: number, limit = 1000) =>
    periodPage(
      fakeClock(),
      connection,
      api,
      { contract: 31, time: { from: start + 60_000, to: start + 65 * 60_000 }, offset, limit },
      {},
    );
  const first = await page(0);
  expect(first.total).toBe(64);
  expect(first.sources.map(({ resource }) => resource)).toEqual(
    Array.from({ length: 64 }, (_, n) => `server/s${n + 1}`),
  );
  expect((await page(60, 2)).sources.map(({ resource }) => resource)).toEqual(["server/s61", "server/s62"]);
  const asked = connection.calls.map(({ url }) => new URL(url).searchParams);
  expect(asked[0]?.has("dateStart")).toBe(true);
  // After that is known, times are not sent again.
  expect(
    asked.slice(1).every((query) => query.get("startDate") === "2026-03-01" && query.get("endDate") === "2026-03-02"),
  ).toBe(true);
});

it("the days are read once for all who ask within a few seconds, and again later", async () => {
  const clock = fakeClock();
  const entries = everyMinute(10);
  const connection = described(entries);
  const total = async (minute: number) => {
    const time = { from: start + minute * 60_000, to: start + (minute + 1) * 60_000 };
    return (await periodPage(clock, connection, api, { contract: 31, time, offset: 0, limit: 1 }, {})).total;
  };
  expect(await total(3)).toBe(1);
  const calls = connection.calls.length;
  expect(await total(4)).toBe(1);
  expect(connection.calls.length).toBe(calls);
  entries.push({ at: start + 4 * 60_000 + 1, resource: "server/late" });
  clock.spend(10_000);
  expect(await total(4)).toBe(2);
});

it("where moments are understood, nothing else is asked for", async () => {
  const connection = scriptedConnection(() => ({
    hits: { total: 1, hits: [{ _source: { time: new Date(start).toISOString() } }] },
  }));
  const time = { from: start, to: start + 1 };
  await periodPage(fakeClock(), connection, api, { contract: 31, time, offset: 0, limit: 10 }, {});
  expect(connection.calls).toHaveLength(1);
});

it("the contract is known by the token, else by the core API, where the log names none", async () => {
  const connection = described([]);
  expect(await activityContract({ ...connection, contractNumber: 77 }, api, {})).toBe(77);
  expect(await activityContract(connection, api, {})).toBe(31);
});

it("a deletion without a status names what it is about, and does not say how it ended", async () => {
  const connection = described([{ at: start, action: "logging.pipeline.delete", resource: "pipeline/p1" }]);
  const { deletions } = await activityDeletions(connection, api, { since: start - 1, now: start + 1 });
  expect(deletions).toMatchObject([{ status: "UNKNOWN", targets: ["p1"] }]);
});

it("a day with more entries than are read is an error, and not a day without the rest", async () => {
  let serial = 0;
  const entry = () => ({ _source: { time: new Date(start).toISOString(), resource: `server/${serial++}` } });
  const connection = scriptedConnection(() => ({
    hits: { total: 1_000_000, hits: Array.from({ length: 5000 }, entry) },
  }));
  const time = { from: start + HOUR, to: start + 2 * HOUR };
  const page = { contract: 31, time, offset: 0, limit: 10 };
  await expect(periodPage(fakeClock(), connection, api, page, {})).rejects.toThrow(
    "from 2026-03-02 to 2026-03-02 there are more than 200000 entries",
  );
});

it("deletions are complete only if the log was read to its end, and reaches back far enough", async () => {
  const deletion = { time: new Date(start).toISOString(), action: "vr.server.delete", resource: "server/s1" };
  const endless = scriptedConnection(() => ({ hits: { hits: [{ _source: deletion }] } }));
  const short = described([{ at: start, action: "vr.server.delete" }]);
  const asked = { since: start - 1, now: start + 1 };
  expect(await activityDeletions({ ...endless, contractNumber: 31 }, api, asked)).toMatchObject({ complete: false });
  expect(await activityDeletions({ ...short, contractNumber: 31 }, api, asked)).toMatchObject({ complete: true });
  // The platform keeps entries for a limited time: what was deleted before that is in no log.
  const earlier = { ...asked, since: start - RETENTION_MS - HOUR };
  expect(await activityDeletions({ ...short, contractNumber: 31 }, api, earlier)).toMatchObject({ complete: false });
});

it("deletions are looked for as long ago as the platform keeps them, though our own clock is months ahead", async () => {
  const DAY = 24 * HOUR;
  const connection = { ...described([{ at: start, action: "vr.server.delete" }]), aheadMs: -100 * DAY };
  const clock = fakeClock(start + 101 * DAY);
  const [log] = createDeletionLogs(clock)(connection, api, "logging", api, "/pipelines");
  const found = await log?.(start - HOUR);
  expect(found).toMatchObject({ deletions: [{ targets: ["s1"] }], complete: true });
});
