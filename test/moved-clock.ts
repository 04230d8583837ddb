import { readFileSync, writeFileSync } from "node:fs";

/**
 * For `node --import file:///…/moved-clock.ts?file=PATH`: the process lives so many seconds in the future as the file says,
 * which is read at the start and at every SIGUSR2; then `PATH.seen` says the same. Unlike in shifted-clock.ts, no clock
 * stays behind: what the process waits for by timers comes so much sooner, too.
 */
const file = new URL(import.meta.url).searchParams.get("file") ?? "";
/** Shorter waits simply pass. */
const LONG_MS = 1000;

interface Waiting {
  timer: NodeJS.Timeout;
  dueAt: number;
  fire: () => void;
}

const wall = Date.now;
const steady = performance.now.bind(performance);
const { setTimeout: wait, clearTimeout: cancel } = globalThis;
const waiting = new Map<unknown, Waiting>();
let aheadMs = 0;

Date.now = () => wall() + aheadMs;
globalThis.Date = new Proxy(Date, {
  construct: (target, args, newTarget) => Reflect.construct(target, args.length > 0 ? args : [Date.now()], newTarget),
  apply: () => new Date().toString(),
});
performance.now = () => steady() + aheadMs;

globalThis.setTimeout = new Proxy(wait, {
  apply(target, self, [fire, ms, ...args]: [(...args: unknown[]) => void, number?, ...unknown[]]) {
    if (ms === undefined || ms < LONG_MS) return Reflect.apply(target, self, [fire, ms, ...args]);
    const fired = () => {
      waiting.delete(timer);
      fire(...args);
    };
    const timer = wait(fired, ms);
    waiting.set(timer, { timer, dueAt: performance.now() + ms, fire: fired });
    return timer;
  },
});
globalThis.clearTimeout = new Proxy(cancel, {
  apply(target, self, [handle]: [unknown]) {
    const known = waiting.get(handle);
    waiting.delete(handle);
    if (known) cancel(known.timer);
    return Reflect.apply(target, self, [handle]);
  },
});

function move(): void {
  aheadMs = Number(readFileSync(file, "utf8")) * 1000;
  for (const each of [...waiting.values()].sort((a, b) => a.dueAt - b.dueAt)) {
    const holdsProcess = each.timer.hasRef();
    cancel(each.timer);
    each.timer = wait(each.fire, Math.max(0, each.dueAt - performance.now()));
    if (!holdsProcess) each.timer.unref();
  }
  writeFileSync(`${file}.seen`, String(aheadMs / 1000));
}

process.on("SIGUSR2", move);
move();
