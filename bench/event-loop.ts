import { PerformanceObserver, type PerformanceObserverEntryList } from "node:perf_hooks";
import { setImmediate as turn } from "node:timers/promises";
import { parseArgs } from "node:util";
import { systemClock } from "../src/runtime/clock.ts";
import { fakeApiServer } from "../test/engine/support/fake-api-server.ts";
import { restingDatacenters } from "../test/engine/support/resting.ts";
import { accountOf, credentials, runEngine } from "../test/engine/support/running-engine.ts";

const usage = `usage: node bench/event-loop.ts [OPTION…]

Starts the engine, in this process, on objects that are at rest, and tells for how long the event loop stood still and how
many objects it looks at per second, compared with a fiftieth of the objects.

  --objects N    (default 50000)`;

const { values } = parseArgs({
  options: { objects: { type: "string", default: "50000" }, help: { type: "boolean", short: "h", default: false } },
});

/** Milliseconds for which this thread has worked: on a busy machine it is not alone. */
function worked(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** A turn of the event loop in which more was done than in most. */
interface Turn {
  from: number;
  to: number;
  cpu: number;
}

/**
 * The longest work between two turns of the event loop; and without what the collector of garbage took of it, which stops
 * everything whenever it likes and grows with what is kept in memory.
 */
function watchLoop() {
  let [last, ending] = [worked(), false];
  const turns: Turn[] = [];
  const collections: Pick<Turn, "from" | "to">[] = [];
  const keep = (list: PerformanceObserverEntryList) =>
    collections.push(
      ...list.getEntries().map((each) => ({ from: each.startTime, to: each.startTime + each.duration })),
    );
  const observer = new PerformanceObserver(keep);
  observer.observe({ entryTypes: ["gc"] });
  const watching = (async () => {
    for (let from = performance.now(); !ending; ) {
      await turn();
      const to = performance.now();
      const cpu = worked() - last;
      if (cpu > 5) turns.push({ from, to, cpu });
      last = worked();
      from = to;
    }
  })();
  const collecting = ({ from, to }: Turn) =>
    collections.reduce((sum, each) => sum + Math.max(0, Math.min(to, each.to) - Math.max(from, each.from)), 0);
  return async () => {
    ending = true;
    await watching;
    // What was collected last is told in a later turn.
    for (let n = 0; n < 10; n++) await turn();
    observer.disconnect();
    return {
      stall: Math.max(0, ...turns.map(({ cpu }) => cpu)),
      work: Math.max(0, ...turns.map((each) => each.cpu - collecting(each))),
    };
  };
}

/** All of them looked at until they rest. */
async function measure(count: number) {
  const { platform, objects } = restingDatacenters(count);
  const rested = new Set<string>();
  const note = (fields: object) => {
    if (Reflect.get(fields, "step") === "rest") rested.add(String(Reflect.get(fields, "object")));
  };
  let passes = 0;
  const initial = [accountOf("main"), credentials, ...objects];
  const api = fakeApiServer(...initial);
  let began = 0;
  let stop: ReturnType<typeof watchLoop> = async () => ({ stall: 0, work: 0 });
  await using _ = await runEngine(initial, {
    api,
    clock: systemClock,
    platform,
    workers: 16,
    begin() {
      // Only now: filling a platform and an API server is not the engine's work.
      began = performance.now();
      stop = watchLoop();
    },
    // As an answer from a network would: in a turn of its own.
    connect(id) {
      const connection = platform.connectionOf(id);
      return { ...connection, send: async (call) => turn().then(() => connection.send(call)) };
    },
    log: { debug: note, info: () => {}, warn: () => {}, error: console.error },
    observe: () => void passes++,
  });
  while (rested.size < count) await turn();
  const seconds = (performance.now() - began) / 1000;
  return { ...(await stop()), passes, perSecond: passes / seconds, seconds };
}

if (values.help) console.log(usage);
else {
  const count = Number(values.objects);
  const few = await measure(Math.ceil(count / 50));
  const many = await measure(count);
  console.log(`${count} objects at rest after ${many.seconds.toFixed(1)} s and ${many.passes} passes`);
  console.log(
    `longest stretch of work without a turn of the event loop ${many.work.toFixed(0)} ms (25 ms are promised)`,
  );
  console.log(`longest stall, garbage collection included, ${many.stall.toFixed(0)} ms`);
  const ratio = many.perSecond / few.perSecond;
  console.log(`${many.perSecond.toFixed(0)} passes per second, ${ratio.toFixed(2)} times as many as with a fiftieth`);
}
