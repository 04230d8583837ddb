import { describe, expect, it } from "vitest";
import { createFilter } from "../../../src/cli/activity/filter.ts";
import { entryFormats } from "../../../src/cli/activity/formats.ts";
import { entryOf } from "../../../src/platform/activity/entry.ts";

const nested = {
  meta: { time: "2026-03-01T10:00:00.123Z", requestId: "r1" },
  principal: { identity: { username: "ann@example.org" } },
  event: {
    type: "RequestStatusUpdate",
    status: "FAILED",
    message: "no room\u001b[2J",
    param: { action: "POST", uri: "/cloudapi/v6/datacenters/d1/servers" },
    resources: [
      { type: "server", id: "s1", action: ["vr.server.create"] },
      { type: "volume", id: "v1", action: ["vr.volume.create"] },
    ],
  },
};
const web = { kind: "Server", namespace: "team", name: "web" };

function read(source: Parameters<typeof entryOf>[0]) {
  const entry = entryOf(source);
  if (entry === undefined) throw new Error("the entry has no time");
  return entry;
}

describe("an entry", () => {
  it("is read from either form of the platform", () => {
    const words = { user: "ann@example.org", action: "vr.server.create", resource: "server/s1" };
    expect(read(nested)).toMatchObject({ ...words, time: Date.parse(nested.meta.time), status: "FAILED" });
    expect(read({ ...words, time: nested.meta.time })).toMatchObject({ ...words, time: Date.parse(nested.meta.time) });
    expect(entryOf(words)).toBeUndefined();
  });

  it.each([
    [{ users: ["ANN@example.org"] }, true],
    [{ users: ["ann"] }, false],
    [{ users: ["bob@example.org", "ann@example.org"] }, true],
    [{ actions: ["create"] }, true],
    [{ actions: ["server.create"] }, true],
    [{ actions: ["requestStatusUpdate"] }, true],
    [{ actions: ["delete"] }, false],
    [{ resources: ["volume"] }, true],
    [{ resources: ["v1"] }, true],
    [{ resources: ["volume/s1"] }, false],
    [{ resources: ["server/web"] }, true],
    [{ resources: ["server/team/web"] }, true],
    [{ resources: ["server/other/web"] }, false],
    [{ resources: ["server"], actions: ["delete"] }, false],
  ])("matches %j: %s", (criteria, expected) => {
    const matches = createFilter({ users: [], actions: [], resources: [], reads: false, ...criteria });
    expect(matches(read(nested), [web])).toBe(expected);
  });
});

describe("the formats", () => {
  const row = { entry: read(nested), objects: [web] };

  it("as a table has one heading, and nothing that a terminal would obey", () => {
    const table = entryFormats.table();
    const text = table.rows([]) + table.rows([row]) + table.rows([row]) + table.end();
    expect(text.match(/TIME/g)).toHaveLength(1);
    expect(text).toContain("server/s1  Server/team/web\n  no room?[2J\n");
    expect(text).not.toContain("\u001b");
  });

  it("as JSON is one array, as NDJSON one object per line, each with the entry as it came", () => {
    const json = entryFormats.json();
    const read = JSON.parse(json.rows([row]) + json.rows([]) + json.rows([row]) + json.end());
    expect(read).toHaveLength(2);
    const [line = ""] = entryFormats.ndjson().rows([row]).split("\n");
    expect(JSON.parse(line)).toEqual(read[0]);
    expect(read[0]).toMatchObject({ time: nested.meta.time, objects: [web], source: nested });
    const empty = entryFormats.json();
    expect(JSON.parse(empty.rows([]) + empty.end())).toEqual([]);
  });

  it.each(["json", "ndjson"] as const)(
    "as %s has nothing that a terminal would obey, and the same text when read",
    (name) => {
      const message = "a\u001b[2J\u009b31m\u202eb\u200bc\u2028d\u007f\u{e0041}\r\n";
      const source = { ...nested, event: { ...nested.event, message } };
      const format = entryFormats[name]();
      const text = format.rows([{ entry: read(source), objects: [web] }]) + format.end();
      expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      expect([JSON.parse(text)].flat()).toMatchObject([{ message, source }]);
    },
  );
});
