import { setImmediate as turn } from "node:timers/promises";
import { parseArgs } from "node:util";
import { systemClock } from "../src/clock.ts";
import { fakeApiServer } from "../test/engine/fake-api-server.ts";
import { restingDatacenters } from "../test/engine/resting.ts";
import { accountOf, credentials, runEngine } from "../test/engine/running-engine.ts";

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

/** The longest work between two turns of the event loop. */
function watchLoop() {
  let [longest, last, ending] = [0, worked(), false];
  const watching = (async () => {
    while (!ending) {
      await turn();
      longest = Math.max(longest, worked() - last);
      last = worked();
    }
  })();
  return async () => {
    ending = true;
    await watching;
    return longest;
  };
}

/** All of them looked at until they rest. */
async function measure(count: number) {
  const { platform, objects } = restingDatacenters(count);
  const rested = new Set<string>();
  const note = (fields: object) => {
    if (Reflect.get(fields, "step") === "rest") rested.add(String(Reflect.get(fields, "key")));
  };
  let passes = 0;
  const initial = [accountOf("main"), credentials, ...objects];
  const api = fakeApiServer(...initial);
  let began = 0;
  let stop = async () => 0;
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
  return { stall: await stop(), passes, perSecond: passes / seconds, seconds };
}

if (values.help) console.log(usage);
else {
  const count = Number(values.objects);
  const few = await measure(Math.ceil(count / 50));
  const many = await measure(count);
  console.log(`${count} objects at rest after ${many.seconds.toFixed(1)} s and ${many.passes} passes`);
  console.log(`longest stall of the event loop ${many.stall.toFixed(0)} ms (25 ms are promised)`);
  const ratio = many.perSecond / few.perSecond;
  console.log(`${many.perSecond.toFixed(0)} passes per second, ${ratio.toFixed(2)} times as many as with a fiftieth`);
}
