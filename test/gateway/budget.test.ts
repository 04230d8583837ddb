import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createBudgets } from "../../src/gateway/access/budget.ts";
import { createMemoryLedger, type Ledger } from "../../src/gateway/access/ledger.ts";
import { fakeClock } from "../fake-clock.ts";

const access = { namespace: "shop", name: "chat", models: ["a/b"], eurPerDay: 10 };

describe("a budget", () => {
  it("is used within five percent and never exceeded, by replicas that are killed and started again", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat({ max: 2 }), fc.integer({ min: 1, max: 100 })), { minLength: 50, maxLength: 100 }),
        fc.array(fc.nat({ max: 40 }), { maxLength: 2 }),
        async (calls, kills) => {
          const clock = fakeClock();
          const ledger = createMemoryLedger();
          const replica = () => createBudgets({ clock, ledger });
          const replicas = [replica(), replica(), replica()];
          let spent = 0;
          let refused = 0;
          for (let nth = 0; refused < 200; nth += 1) {
            if (kills.includes(nth)) replicas[nth % 3] = replica();
            const [which = 0, cents = 1] = calls[nth % calls.length] ?? [];
            // At most a tenth of a percent of the budget, and the final cost is lower.
            const eur = cents / 10_000;
            try {
              (await replicas[which]?.reserve(access, eur))?.settle(eur / 2);
              spent += eur / 2;
            } catch {
              refused += 1;
            }
          }
          expect(spent).toBeLessThanOrEqual(10 + 1e-9);
          expect(spent).toBeGreaterThanOrEqual(9.5);
        },
      ),
      { numRuns: 10 },
    );
  });

  it("is held by an idle replica up to two hundredths, whatever its calls have kept back and cost", async () => {
    const call = fc.record({
      replica: fc.nat({ max: 2 }),
      eur: fc.double({ min: 0.0001, max: 12, noNaN: true }),
      part: fc.double({ min: 0, max: 1, noNaN: true }),
      ends: fc.nat({ max: 5 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 60 }), async (calls) => {
        const [clock, ledger] = [fakeClock(), createMemoryLedger()];
        const replicas = Array.from({ length: 3 }, () => createBudgets({ clock, ledger }));
        let spent = 0;
        let open: { left: number; end: () => void }[] = [];
        const pass = (turns: number) => {
          for (const each of open) each.left -= turns;
          for (const { end } of open.filter(({ left }) => left <= 0)) end();
          open = open.filter(({ left }) => left > 0);
        };
        for (const { replica, eur, part, ends } of calls) {
          const reservation = await replicas[replica]?.reserve(access, eur).catch(() => undefined);
          if (reservation) {
            const end = () => {
              spent += eur * part;
              reservation.settle(eur * part);
            };
            open.push({ left: ends, end });
          }
          pass(1);
        }
        pass(10);
        await clock.advance(2000);
        const { left } = await ledger.take("shop/chat", "2026-01-01", { least: 0, most: 0 }, 10);
        expect(spent).toBeLessThanOrEqual(10 + 1e-9);
        expect(10 - left - spent).toBeGreaterThanOrEqual(-1e-9);
        expect(10 - left - spent).toBeLessThanOrEqual(3 * 0.2 + 1e-9);
      }),
    );
  });

  it("is refused with the time until midnight UTC, and is whole again after it", async () => {
    const clock = fakeClock(Date.UTC(2026, 0, 1, 23, 0, 0));
    const budgets = createBudgets({ clock, ledger: createMemoryLedger() });
    (await budgets.reserve(access, 9.99)).settle(9.99);
    await expect(budgets.reserve(access, 0.02)).rejects.toMatchObject({
      status: 429,
      code: "insufficient_quota",
      headers: { "retry-after": "3600", "x-should-retry": "false" },
    });
    await clock.advance(3_600_000);
    await budgets.reserve(access, 9.99);
  });

  it("asks the ledger once for many calls at once, and rarely after that", async () => {
    let asked = 0;
    const own = createMemoryLedger();
    const ledger: Ledger = {
      ...own,
      take(...args) {
        asked += 1;
        return own.take(...args);
      },
    };
    const budgets = createBudgets({ clock: fakeClock(), ledger });
    await Promise.all(Array.from({ length: 50 }, () => budgets.reserve(access, 0.001)));
    expect(asked).toBe(1);
    for (let nth = 0; nth < 1000; nth += 1) await budgets.reserve(access, 0.001);
    expect(asked).toBeLessThanOrEqual(12);
  });

  it("is given back when the gateway stops: the next one has all that is left", async () => {
    const ledger = createMemoryLedger();
    const first = createBudgets({ clock: fakeClock(), ledger });
    (await first.reserve(access, 5)).settle(1);
    await first.close();
    const second = createBudgets({ clock: fakeClock(), ledger });
    await second.reserve(access, 9);
    await expect(second.reserve(access, 0.01)).rejects.toMatchObject({ status: 429 });
  });

  it("that cannot be checked lets nothing through but what was taken before", async () => {
    const own = createMemoryLedger();
    let broken = false;
    const take: Ledger["take"] = (...args) => (broken ? Promise.reject(new Error("down")) : own.take(...args));
    const budgets = createBudgets({ clock: fakeClock(), ledger: { ...own, take } });
    await budgets.reserve(access, 0.01);
    broken = true;
    await budgets.reserve(access, 0.05);
    await expect(budgets.reserve(access, 0.09)).rejects.toMatchObject({ status: 503 });
  });
});

describe("the budget of a namespace", () => {
  const ofNamespace = { account: "shared", eurPerDay: 3 };
  const one = { ...access, name: "one", eurPerDay: 10, ofNamespace };
  const two = { ...access, name: "two", eurPerDay: 2, ofNamespace };
  const free = { namespace: "shop", name: "free", models: ["a/b"], ofNamespace };

  it("bounds all its accesses together, also one without a budget of its own", async () => {
    const budgets = createBudgets({ clock: fakeClock(), ledger: createMemoryLedger() });
    for (const each of [one, two, free]) (await budgets.reserve(each, 0.9)).settle(0.9);
    await expect(budgets.reserve(one, 0.9)).rejects.toThrow("0.3 EUR are left of the budget of namespace shop, 3 EUR");
    const elsewhere = { ...free, namespace: "other" };
    (await budgets.reserve(elsewhere, 2.9)).settle(2.9);
    await expect(budgets.reserve(free, 5)).rejects.toThrow("may cost 5 EUR, more than the budget of namespace shop");
  });

  it("takes nothing of an access's own budget for a call that it refuses", async () => {
    const ledger = createMemoryLedger();
    const [first, second] = [
      createBudgets({ clock: fakeClock(), ledger }),
      createBudgets({ clock: fakeClock(), ledger }),
    ];
    for (let nth = 0; nth < 5; nth += 1) await expect(first.reserve(one, 9)).rejects.toMatchObject({ status: 429 });
    (await second.reserve({ ...one, ofNamespace: undefined }, 9.9)).settle(0);
  });
});

describe("a refused call", () => {
  it("takes nothing; a hundred of them in a second ask the ledger once, and smaller ones are served meanwhile", async () => {
    const clock = fakeClock();
    let asked = 0;
    const own = createMemoryLedger();
    const take: Ledger["take"] = (...args) => {
      asked += 1;
      return own.take(...args);
    };
    const budgets = createBudgets({ clock, ledger: { ...own, take } });
    for (let nth = 0; nth < 100; nth += 1) await expect(budgets.reserve(access, 11)).rejects.toThrow("more than");
    expect(asked).toBe(1);
    (await budgets.reserve(access, 9)).settle(0.5);
    (await budgets.reserve(access, 9)).settle(0.5);
  });

  it("takes nothing, and asks nobody, whatever it asks for beyond what was left a moment ago", async () => {
    let asked = 0;
    const own = createMemoryLedger();
    const take: Ledger["take"] = (...args) => {
      asked += 1;
      return own.take(...args);
    };
    const budgets = createBudgets({ clock: fakeClock(), ledger: { ...own, take } });
    (await budgets.reserve(access, 5)).settle(5);
    asked = 0;
    for (let eur = 9; eur > 6; eur -= 0.1) await expect(budgets.reserve(access, eur)).rejects.toThrow("are left of");
    expect(asked).toBe(1);
  });

  it("may be tried again when open calls are what is in its way", async () => {
    const budgets = createBudgets({ clock: fakeClock(), ledger: createMemoryLedger() });
    const open = await budgets.reserve(access, 9);
    await expect(budgets.reserve(access, 2)).rejects.toMatchObject({ headers: { "retry-after": "2" } });
    open.settle(0.5);
    (await budgets.reserve(access, 2)).settle(0.5);
  });
});

it("calls with a large maximum that are left at once, a hundred in a moment, cost the ledger a few writes", async () => {
  const clock = fakeClock();
  let writes = 0;
  const own = createMemoryLedger();
  const ledger: Ledger = {
    take(...args) {
      writes += 1;
      return own.take(...args);
    },
    giveBack(...args) {
      writes += 1;
      return own.giveBack(...args);
    },
  };
  const [first, second] = [createBudgets({ clock, ledger }), createBudgets({ clock, ledger: own })];
  for (let nth = 0; nth < 100; nth += 1) (await first.reserve(access, 9)).settle(0);
  await clock.advance(1000);
  expect(writes).toBeLessThanOrEqual(6);
  // Everything was given back.
  (await second.reserve(access, 9)).settle(0);
  expect(clock.pending).toBe(0);
});

it("costs beyond the reservation reach the other replicas", async () => {
  const ledger = createMemoryLedger();
  const [first, second] = [
    createBudgets({ clock: fakeClock(), ledger }),
    createBudgets({ clock: fakeClock(), ledger }),
  ];
  (await first.reserve(access, 0.01)).settle(9.5);
  await first.close();
  await expect(second.reserve(access, 0.6)).rejects.toMatchObject({ status: 429 });
});
