import { setTimeout as delay } from "node:timers/promises";
import { untilQuiet, untilSure } from "../waiting.ts";
import type { Chapter } from "./scenario.ts";

const STANDBY_MS = 5000;

/** The leader is killed while another process waits: when that one has decided about the first object, and about the last. */
export const measureLeader: Chapter = async (stage, _, note) => {
  const next = await stage.start({ pod: "mooring-1" });
  await delay(STANDBY_MS);
  await untilQuiet(next.pid);
  await stage.operator.kill();
  const began = performance.now();
  stage.take(next);
  const first = async () => ((await next.passes()) > 0 ? undefined : "no decision yet");
  await untilSure(first, { title: "leader", seconds: 120, stepMs: 250 });
  note("leaderFirst", (performance.now() - began) / 1000);
  note("leaderLast", ((await untilQuiet(next.pid)) - began) / 1000);
};
