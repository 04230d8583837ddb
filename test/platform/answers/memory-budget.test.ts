import { describe, expect, test } from "vitest";
import { createMemoryBudget, openRoom } from "../../../src/platform/answers/memory-budget.ts";
import { createTransport } from "../../../src/platform/calls/transport.ts";
import { openCollection } from "../../../src/platform/collections/collection.ts";
import { coreCollection } from "../../../src/platform/products/core.ts";
import { fakeClock } from "../../fake-clock.ts";
import { type Script, scriptedServer } from "../scripted-server.ts";

const MIB = 1024 * 1024;

describe("memory for answers", () => {
  test("is shared: an Account has a quarter of it, a namespace half, and what is given back can be had again", () => {
    const budget = createMemoryBudget(400 * MIB);
    budget.take("evil/a", 100 * MIB);
    expect(() => budget.take("evil/a", 1)).toThrow("kept for this Account take more than 100 MiB");
    budget.take("evil/b", 100 * MIB);
    expect(() => budget.take("evil/c", 1)).toThrow("kept for the Accounts of this namespace take more than 200 MiB");
    budget.give("evil/a", 100 * MIB);
    budget.take("evil/c", 100 * MIB);
  });

  test("is there for small ones, also when others have taken all of it", () => {
    const budget = createMemoryBudget(400 * MIB);
    for (const account of ["a/1", "a/2", "b/1", "b/2"]) budget.take(account, 100 * MIB);
    budget.take("shop/main", 16 * MIB);
    expect(() => budget.take("shop/main", 1)).toThrow("kept for all Accounts take more than 400 MiB");
  });

  test("is taken by a list from its first page until it is replaced, failed or closed", () => {
    const budget = createMemoryBudget(4000);
    const [room, other] = [openRoom(budget, "a/1"), openRoom(budget, "a/1")];
    const isFree = (bytes: number) => {
      try {
        other.take(bytes);
        other.end(false);
        return true;
      } catch {
        return false;
      }
    };
    room.take(300);
    room.take(200);
    room.end(true);
    expect([isFree(500), isFree(501)]).toEqual([true, false]);
    room.take(400);
    expect([isFree(100), isFree(101)]).toEqual([true, false]);
    room.end(true);
    expect([isFree(600), isFree(601)]).toEqual([true, false]);
    room.take(600);
    room.end(false);
    expect([isFree(600), isFree(601)]).toEqual([true, false]);
    room.take(600);
    room.shed(550);
    expect([isFree(550), isFree(551)]).toEqual([true, false]);
    room.end(true);
    expect([isFree(950), isFree(951)]).toEqual([true, false]);
    room.take(100);
    room.close();
    room.end(true);
    expect([isFree(1000), isFree(1001)]).toEqual([true, false]);
  });
});

/** A list with one item of about this size, or with that many empty objects. */
const listOf = (bytes: number, filling: "text" | "objects"): string => {
  const inside =
    filling === "text"
      ? JSON.stringify("x".repeat(bytes))
      : `[${Array(bytes / 32)
          .fill("{}")
          .join()}]`;
  return `{"items":[{"id":"a","metadata":{"state":"AVAILABLE"},"properties":{"name":${inside}}}]}`;
};

describe.each(["text", "objects"] as const)("lists full of %s", (filling) => {
  test("of one Account take its share, wherever they are, and nothing of another Account's", async () => {
    const text = listOf(MIB, filling);
    const serve: Script = (_, response) => void response.writeHead(200).end(text);
    await using server = await scriptedServer(serve);
    const clock = fakeClock();
    const transport = createTransport({ clock, random: () => 0, memoryBytes: 7 * MIB });
    const connections = ["evil/one", "shop/main"].map((id) => transport.connect(id, { token: id }));
    const open = ([connection, name]: [(typeof connections)[number] | undefined, string]) => {
      if (!connection) throw new Error("there is no such connection");
      return openCollection(coreCollection(connection, server.url, `/${name}`, { depth: 1 }), { clock });
    };
    const settled = async (collection: ReturnType<typeof open>) => {
      await expect
        .poll(async () => {
          await clock.advance(0);
          return collection.listedAt ?? collection.problem;
        })
        .toBeDefined();
      return collection.problem?.message ?? "listed";
    };
    const [evil, shop] = connections;
    const first = open([evil, "one"]);
    expect(await settled(first)).toBe("listed");
    const second = open([evil, "two"]);
    // Objects that are kept as text need no more memory than the text.
    const refused = expect.stringContaining("the answers kept for this Account take more than 2 MiB of memory");
    expect(await settled(second)).toEqual(filling === "text" ? refused : "listed");
    const ours = open([shop, "one"]);
    expect(await settled(ours)).toBe("listed");
    first.close();
    second.close();
    const third = open([evil, "two"]);
    expect(await settled(third)).toBe("listed");
    for (const each of [third, ours]) each.close();
    await transport.close();
  });
});

test("writes and small reads go on, however much is taken: what is too much can be removed", async () => {
  const large = JSON.stringify({ name: "x".repeat(MIB) });
  const serve: Script = ({ url }, response) => void response.writeHead(200).end(url === "/large" ? large : "{}");
  await using server = await scriptedServer(serve);
  const transport = createTransport({ clock: fakeClock(), random: () => 0, memoryBytes: 1024 });
  const connection = transport.connect("evil/one", { token: "t" });
  const send = (method: "GET" | "DELETE", path: string) => connection.send({ method, url: `${server.url}${path}` });
  await expect(send("GET", "/large")).rejects.toThrow("kept for this Account take more than");
  expect(await send("GET", "/small")).toMatchObject({ status: 200 });
  expect(await send("DELETE", "/large")).toMatchObject({ status: 200 });
  await transport.close();
});
