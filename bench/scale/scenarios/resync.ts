import { setTimeout as delay } from "node:timers/promises";
import { untilQuiet } from "../waiting.ts";
import type { Chapter } from "./scenario.ts";

/** Instead of five minutes: what counts is how many calls one takes. */
const INTERVAL_S = 30;
const INTERVALS = 2;

/** What resources at rest cost at the platform. */
export const measureResync: Chapter = async (stage, _, note) => {
  const { platform } = stage;
  await stage.restart({ resyncSeconds: INTERVAL_S });
  await delay(INTERVAL_S * 1000);
  await platform.resetCalls();
  await delay(INTERVALS * INTERVAL_S * 1000);
  note("resyncCalls", (await platform.calls()).total / INTERVALS);
  await stage.restart();
  await untilQuiet(stage.operator.pid);
};
