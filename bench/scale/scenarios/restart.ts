import { allOf } from "../population.ts";
import { say, untilQuiet } from "../waiting.ts";
import type { Chapter } from "./scenario.ts";

/** A new process on objects that are at rest. Nobody asks it anything before it is quiet. */
export const measureRestart: Chapter = async (stage, population, note) => {
  const count = allOf(population).length;
  await stage.platform.resetCalls();
  const began = await stage.restart();
  const { operator } = stage;
  const quietAt = await untilQuiet(operator.pid);
  const cpu = operator.cpu();
  // The gauge is the longest since it was last read.
  if (stage.contender === "mooring") {
    note("restartStall", 1000 * (await operator.metric("nodejs_eventloop_lag_max_seconds")));
  }
  const passes = await operator.passes();
  const { total } = await stage.platform.calls();
  say(`restart: ${passes} passes, ${cpu.toFixed(1)} s of CPU, ${total} platform calls`);
  note("restartPasses", passes / count);
  note("restartCpu", cpu);
  note("restartSeconds", (quietAt - began) / 1000);
};
