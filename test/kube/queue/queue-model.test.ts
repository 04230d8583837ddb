import fc from "fast-check";
import { expect, test } from "vitest";
import { createQueue, type Priority } from "../../../src/kube/queue/queue.ts";

const { signal } = new AbortController();

/** A simple reference with the same rules: one list, searched from the front. */
class Model {
  ready: { key: string; priority: number }[] = [];
  again = new Map<string, number>();
  working = new Set<string>();
  delayed = new Map<string, { at: number; priority: number }>();
  now = 0;

  add(key: string, priority: number): void {
    if (this.working.has(key)) {
      this.again.set(key, Math.min(priority, this.again.get(key) ?? priority));
      return;
    }
    const known = this.ready.find((entry) => entry.key === key);
    if (known && known.priority <= priority) return;
    this.ready = this.ready.filter((entry) => entry !== known);
    this.ready.push({ key, priority });
  }
  addAfter(key: string, ms: number, priority: number): void {
    if (ms === 0) {
      this.add(key, priority);
      return;
    }
    const known = this.delayed.get(key) ?? { at: Number.POSITIVE_INFINITY, priority };
    const at = Math.min(known.at, this.now + ms);
    this.delayed.set(key, { at, priority: Math.min(known.priority, priority) });
  }
  take(): string | undefined {
    const first = [...this.ready].sort((a, b) => a.priority - b.priority)[0];
    if (!first) return undefined;
    this.ready = this.ready.filter((entry) => entry !== first);
    this.working.add(first.key);
    return first.key;
  }
  done(key: string): void {
    if (!this.working.delete(key)) return;
    const priority = this.again.get(key);
    this.again.delete(key);
    if (priority !== undefined) this.add(key, priority);
  }
  advance(ms: number): void {
    this.now += ms;
    const due = [...this.delayed].filter(([, entry]) => entry.at <= this.now).sort(([, a], [, b]) => a.at - b.at);
    for (const [key, { priority }] of due) {
      this.delayed.delete(key);
      this.add(key, priority);
    }
  }
}

test("the queue behaves like its model for any operations in any order", async () => {
  const names: Priority[] = ["people", "normal", "background"];
  const key = fc.constantFrom("a", "b", "c", "d");
  const priority = fc.integer({ min: 0, max: 2 });
  // Delays are distinct powers, so no two keys become ready at the same moment.
  const command = fc.oneof(
    fc.record({ do: fc.constant("add" as const), key, priority }),
    fc.record({ do: fc.constant("addAfter" as const), key, priority, ms: fc.constantFrom(0, 7, 110, 1300) }),
    fc.record({ do: fc.constant("take" as const) }),
    fc.record({ do: fc.constant("done" as const), key }),
    fc.record({ do: fc.constant("advance" as const), ms: fc.constantFrom(1, 10, 200, 2000) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(command, { maxLength: 60 }), async (commands) => {
      const model = new Model();
      const time = { now: 0 };
      const timers = new Map<() => void, number>();
      const queue = createQueue({
        clock: {
          now: () => time.now,
          monotonic: () => time.now,
          after(ms, fire) {
            timers.set(fire, time.now + ms);
            return () => timers.delete(fire);
          },
        },
      });
      let offset = 0;
      for (const step of commands) {
        switch (step.do) {
          case "add":
            queue.add(step.key, names[step.priority]);
            model.add(step.key, step.priority);
            break;
          case "addAfter": {
            offset += 1e-6;
            const ms = step.ms === 0 ? 0 : step.ms + offset;
            queue.addAfter(step.key, ms, names[step.priority]);
            model.addAfter(step.key, ms, step.priority);
            break;
          }
          case "take": {
            const expected = model.take();
            if (expected === undefined) expect(queue.depth).toBe(0);
            else expect(await queue.take(signal)).toBe(expected);
            break;
          }
          case "done":
            queue.done(step.key);
            model.done(step.key);
            break;
          case "advance":
            time.now += step.ms;
            model.advance(step.ms);
            for (const [fire, at] of [...timers]) {
              if (at > time.now) continue;
              timers.delete(fire);
              fire();
            }
            break;
        }
        expect([queue.depth, queue.delayed]).toEqual([model.ready.length, model.delayed.size]);
      }
    }),
    { numRuns: 500 },
  );
});
