import { describe, expect, it } from "vitest";
import { Refused } from "../../src/gateway/refused.ts";
import { createShares } from "../../src/gateway/turn/shares.ts";
import { fakeClock } from "../fake-clock.ts";

const never = new AbortController().signal;

/** Five calls per second, ten at once. `order` has the callers in the order of admission. */
function open({ mostWaitMs = 30_000 } = {}) {
  const clock = fakeClock();
  const shares = createShares({ clock, perSecond: 5, burst: 10, mostWaitMs });
  const order: string[] = [];
  const refused: [string, Refused][] = [];
  const enter = (namespace: string, signal = never, again = false) =>
    shares.enter(namespace, signal, again).then(
      () => void order.push(namespace),
      (error) => void (error instanceof Refused && refused.push([namespace, error])),
    );
  const many = (namespace: string, count: number) => Array.from({ length: count }, () => enter(namespace));
  return { clock, shares, order, refused, enter, many };
}

describe("the rate of a contract", () => {
  it("lets ten calls leave at once, then five per second", async () => {
    const { clock, order, many } = open();
    many("a", 30);
    await clock.advance(0);
    expect(order).toHaveLength(10);
    await clock.advance(1000);
    expect(order).toHaveLength(15);
    await clock.advance(3000);
    expect(order).toHaveLength(30);
  });

  it("is never exceeded in any second after the burst, whoever asks when", async () => {
    const { clock, order, many } = open();
    for (let second = 0; second < 20; second += 1) {
      many(`n${second % 3}`, (second * 7) % 13);
      await clock.advance(1000);
      expect(order.length).toBeLessThanOrEqual(10 + 5 * (second + 1));
    }
  });

  it("gives the single call of one namespace its turn within two slots of a hundred of another", async () => {
    const { clock, order, many, enter } = open();
    many("loud", 100);
    await clock.advance(50);
    const before = order.length;
    enter("quiet");
    await clock.advance(400);
    expect(order.slice(before)).toContain("quiet");
    expect(order.slice(before).length).toBeLessThanOrEqual(2);
  });

  it("goes round between namespaces, not by how much they ask for", async () => {
    const { clock, order, many } = open();
    many("first", 10);
    await clock.advance(0);
    many("a", 20);
    many("b", 4);
    many("c", 2);
    await clock.advance(1200);
    expect(order.slice(10).join("")).toBe("abcabc");
  });

  it("refuses who would wait too long, and says when to come again", async () => {
    const { clock, refused, many, shares } = open({ mostWaitMs: 2000 });
    many("a", 25);
    await clock.advance(0);
    expect(shares.waiting).toBe(10);
    expect(refused).toHaveLength(5);
    expect(refused[0]?.[1]).toMatchObject({ status: 429, headers: { "retry-after": "2" } });
  });

  it("takes the place for a newcomer from the longest line", async () => {
    const { clock, order, refused, many, enter } = open({ mostWaitMs: 2000 });
    many("loud", 20);
    await clock.advance(0);
    enter("quiet");
    await clock.advance(400);
    expect(refused.map(([namespace]) => namespace)).toEqual(["loud"]);
    expect(order.slice(10)).toContain("quiet");
  });

  it("serves ten thousand namespaces in turn, and keeps nothing of them", async () => {
    const { clock, order, refused, enter, shares } = open();
    for (let nth = 0; nth < 10_000; nth += 1) enter(`n${nth}`);
    await clock.advance(30_000);
    expect(order).toHaveLength(160);
    expect(new Set(order).size).toBe(160);
    expect(refused).toHaveLength(10_000 - 160);
    expect(shares.waiting).toBe(0);
    expect(clock.pending).toBe(0);
  });

  it("gives no turn to a client that has left", async () => {
    const { clock, order, enter, many, shares } = open();
    many("a", 10);
    const client = new AbortController();
    enter("b", client.signal);
    await clock.advance(0);
    client.abort();
    await clock.advance(1000);
    expect(order).not.toContain("b");
    expect(shares.waiting).toBe(0);
  });

  it("stands still while the platform asks to wait; who tries again comes first in its namespace", async () => {
    const { clock, order, enter, shares } = open();
    enter("a");
    await clock.advance(0);
    shares.pause(5000);
    const marks: string[] = [];
    shares.enter("a", never).then(() => marks.push("new"));
    shares.enter("a", never, true).then(() => marks.push("again"));
    await clock.advance(4900);
    expect([order, marks]).toEqual([["a"], []]);
    await clock.advance(1000);
    expect(marks).toEqual(["again", "new"]);
  });
});
