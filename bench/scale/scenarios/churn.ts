import { setTimeout as delay } from "node:timers/promises";
import { create, edit, populationOf, remove, server } from "../population.ts";
import { say } from "../waiting.ts";
import { createAll } from "./create.ts";
import type { Scenario } from "./scenario.ts";

/** So many Servers are created, deleted and edited, each, every second. */
const PER_SECOND = 2;
const MINUTE_MS = 60_000;
/** The first few minutes fill what has a limit of its own. */
const EARLY_MINUTES = 5;

/** Servers come, change and go: memory at the end must be what it was after the first minutes. */
export const measureChurn: Scenario = async (stage, note) => {
  const { client, operator, options } = stage;
  const population = populationOf(options.objects);
  await createAll(stage, population, "churn");
  const servers = [...population.servers];
  const homes = population.datacenters.map(({ metadata }) => metadata.name);
  const began = performance.now();
  let made = 0;
  const turn = async () => {
    const fresh = Array.from({ length: PER_SECOND }, () => server(`churn-${made}`, homes[made++ % homes.length] ?? ""));
    const gone = servers.splice(0, PER_SECOND);
    await create(client, fresh);
    servers.push(...fresh);
    await remove(client, gone);
    // Those in the middle are Ready for long, and stay for long.
    const middle = Math.floor(servers.length / 2);
    await edit(client, servers.slice(middle, middle + PER_SECOND), { ram: made % 3 === 0 ? 2048 : 4096 });
  };
  /** The mean of each minute, in megabytes. */
  const minutes: number[] = [];
  while (minutes.length < options.minutes) {
    const samples: number[] = [];
    while (performance.now() - began < (minutes.length + 1) * MINUTE_MS) {
      const next = performance.now() + 1000;
      await turn();
      samples.push(operator.resident());
      await delay(Math.max(0, next - performance.now()));
    }
    minutes.push(samples.reduce((sum, each) => sum + each, 0) / samples.length);
    say(`churn: minute ${minutes.length}, ${made} made, ${minutes.at(-1)?.toFixed(0)} MB`);
  }
  const early = minutes[Math.min(EARLY_MINUTES, minutes.length) - 1] ?? 0;
  const late = minutes.at(-1) ?? 0;
  note("churnEarly", early);
  note("churnLate", late);
  note("churnRatio", late / early);
};
