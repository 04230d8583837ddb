import { subscribe } from "node:diagnostics_channel";
import { readFileSync, writeFileSync } from "node:fs";
import { z } from "zod";

/**
 * For `node --import file:///…/moved-clock.ts?file=PATH`: the process lives as many seconds in the future as the file
 * says. At SIGUSR2 it freezes as soon as no call is in progress, writes `PATH.frozen`, and continues when the number in
 * the file changes. Unlike shifted-clock.ts, it moves all clocks, so timers fire earlier too.
 */
const file = new URL(import.meta.url).searchParams.get("file") ?? "";
/** Shorter waits are not changed. */
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
}

/** Requests of undici in progress; a watch always is. */
const calls = new Set<unknown>();
const call = z.object({ request: z.looseObject({ path: z.string() }) });
subscribe("undici:request:create", (message) => {
  const { request } = call.parse(message);
  if (!request.path.includes("watch=")) calls.add(Object(message).request);
});
for (const end of ["undici:request:trailers", "undici:request:error"]) {
  subscribe(end, (message) => void calls.delete(Object(message).request));
}

const still = new Int32Array(new SharedArrayBuffer(4));
function freeze(): void {
  if (calls.size > 0) {
    wait(freeze, 2);
    return;
  }
  const before = readFileSync(file, "utf8");
  writeFileSync(`${file}.frozen`, "");
  // The file is empty while it is written.
  while (["", before].includes(readFileSync(file, "utf8"))) Atomics.wait(still, 0, 0, 5);
  move();
}

process.on("SIGUSR2", freeze);
move();
