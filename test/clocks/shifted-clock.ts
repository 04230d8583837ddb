/**
 * For `node --import file:///…/shifted-clock.ts?seconds=90`: the wall clock of that process is this many seconds ahead.
 * Monotonic clocks (performance.now, timers) are unchanged.
 */
const shift = Number(new URL(import.meta.url).searchParams.get("seconds")) * 1000;
const now = Date.now;

Date.now = () => now() + shift;
globalThis.Date = new Proxy(Date, {
  construct: (target, args, newTarget) => Reflect.construct(target, args.length > 0 ? args : [Date.now()], newTarget),
  apply: () => new Date().toString(),
});
