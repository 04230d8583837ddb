import { expect, it } from "vitest";
import { activityPage } from "../../../src/platform/activity/log.ts";
import { Retry } from "../../../src/platform/answers/errors.ts";
import { LimitExceeded } from "../../../src/platform/answers/limits.ts";
import { scriptedConnection } from "../../engine/support/fixtures.ts";

const page = { contract: 31, time: { from: 0, to: 60_000 }, offset: 0 };
const queryOf = (url = "") => Object.fromEntries(new URL(url).searchParams);

it("asks for moments by their own words, and for days by the others", async () => {
  const connection = scriptedConnection(() => ({ hits: { total: 0, hits: [] } }));
  await activityPage(connection, "http://platform.test/", page, {});
  await activityPage(connection, "http://platform.test", { ...page, time: { start: "2026-03-01" }, limit: 7 }, {});
  const [moments, days] = connection.calls.map(({ url }) => queryOf(url));
  const dates = { dateStart: "1970-01-01T00:00:00.000Z", dateEnd: "1970-01-01T00:01:00.000Z" };
  expect(moments).toEqual({ ...dates, offset: "0", limit: "1000" });
  expect(days).toEqual({ startDate: "2026-03-01", offset: "0", limit: "7" });
});

it("asks for less at once where a page would be too large", async () => {
  const connection = scriptedConnection(({ url }) => {
    if (Number(queryOf(url).limit) <= 100) return { hits: { total: 1, hits: [{ _source: { action: "one" } }] } };
    const cause = new LimitExceeded("larger than 4 MiB");
    throw new Retry({ call: "GET /activitylog", status: 200, cause }, "no");
  });
  const { sources, total } = await activityPage(connection, "http://platform.test", page, {});
  expect([sources, total]).toEqual([[{ action: "one" }], 1]);
  expect(connection.calls.map(({ url }) => queryOf(url).limit)).toEqual(["1000", "250", "62"]);
});
