import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createMembers, type Members } from "../../../src/platform/collections/members.ts";
import type { Item } from "../../../src/platform/collections/reading.ts";
import { sameJson } from "../../../src/platform/collections/same-json.ts";

const item = (id: string, state = "AVAILABLE", more: object = {}): Item => ({ id, state, raw: { id, state, ...more } });
const never = () => false;

function listing(...ids: string[]): Members {
  const members = createMembers();
  members.list(
    members.beginRead(1),
    ids.map((id) => item(id)),
    never,
  );
  return members;
}

describe("the members of a collection", () => {
  test("change only where the platform's answer did, whatever the order of keys", async () => {
    const members = listing("a", "b");
    const before = members.item("a");
    const again: Item = { id: "a", state: "AVAILABLE", raw: { state: "AVAILABLE", id: "a" } };
    const { changed } = await members.list(members.beginRead(2), [again, item("b", "BUSY")], never);
    expect([...changed]).toEqual(["b"]);
    expect(members.item("a")).toBe(before);
    expect(members.asOf("a")).toBe(2);
  });

  test("are given up when two lists in a row miss them", async () => {
    const members = listing("a", "b");
    const first = await members.list(members.beginRead(2), [item("b")], never);
    expect([...first.doubted]).toEqual(["a"]);
    expect(first.changed.size).toBe(0);
    expect(members.item("a")).toBeDefined();
    expect(members.asOf("a")).toBe(1);
    const second = await members.list(members.beginRead(3), [item("b")], never);
    expect([...second.changed]).toEqual(["a"]);
    expect(members.item("a")).toBeUndefined();
    expect(members.asOf("a")).toBe(3);
  });

  test("are out of doubt once they are seen again", async () => {
    const members = listing("a");
    members.list(members.beginRead(2), [], never);
    members.list(members.beginRead(3), [item("a")], never);
    expect((await members.list(members.beginRead(4), [], never)).changed.size).toBe(0);
    expect(members.item("a")).toBeDefined();
  });

  test("go at once where their absence is believed", async () => {
    const members = listing("a");
    expect([...(await members.list(members.beginRead(2), [], () => true)).changed]).toEqual(["a"]);
  });

  test("a list that started before a read of one member cannot take that member back", () => {
    const members = listing("a");
    const list = members.beginRead(2);
    const read = members.beginRead(3);
    members.one(read, "new", item("new", "BUSY"), false);
    members.list(list, [item("a")], () => true);
    expect(members.item("new")).toBeDefined();
    members.list(list, [item("a"), item("new", "OLD")], never);
    expect(members.item("new")?.state).toBe("BUSY");
  });

  test("a list that started before a member was found missing cannot bring it back", () => {
    const members = listing("a");
    const list = members.beginRead(2);
    expect(members.one(members.beginRead(3), "a", undefined, true)).toBe(true);
    members.list(list, [item("a")], never);
    expect(members.item("a")).toBeUndefined();
    expect(members.asOf("a")).toBe(3);
    members.list(members.beginRead(4), [item("a")], never);
    expect(members.item("a")).toBeDefined();
  });

  test("nothing is known before the first read", () => {
    const members = createMembers();
    expect(members.asOf("a")).toBeUndefined();
    expect(members.listedAt).toBeUndefined();
  });

  test("may pause at every item of a list, and at every member that is looked at for being missed", async () => {
    const members = listing("a", "b");
    let pauses = 0;
    await members.list(members.beginRead(2), [item("a"), item("b"), item("c")], never, async () => void pauses++);
    expect(pauses).toBe(6);
  });

  test("a member of the read that started last is there, in any order of answers", () => {
    const answers = fc.array(fc.record({ list: fc.boolean(), there: fc.boolean(), order: fc.integer() }), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(answers, (script) => {
        const members = createMembers();
        const reads = script.map((step) => ({ ...step, read: members.beginRead(1) }));
        for (const { list, there, read } of reads.toSorted((a, b) => a.order - b.order)) {
          if (list) members.list(read, there ? [item("a", String(read.serial))] : [], never);
          else members.one(read, "a", there ? item("a", String(read.serial)) : undefined, false);
        }
        const last = reads.at(-1);
        if (last?.there) expect(members.item("a")?.state).toBe(String(last.read.serial));
      }),
    );
  });
});

test("JSON values are the same exactly when their texts are", () => {
  fc.assert(
    fc.property(fc.json(), fc.json(), (a, b) => {
      const [left, right] = [JSON.parse(a), JSON.parse(b)];
      expect(sameJson(left, JSON.parse(a))).toBe(true);
      if (sameJson(left, right)) expect(right).toEqual(left);
    }),
  );
  expect(sameJson([1], { 0: 1 })).toBe(false);
  expect(sameJson({ a: undefined }, { b: undefined })).toBe(false);
});
