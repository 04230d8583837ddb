import { setTimeout as delay } from "node:timers/promises";
import { allOf, create, datacenter, NAMESPACE, server } from "../population.ts";
import { say, until, untilSure } from "../waiting.ts";
import type { Scenario } from "./scenario.ts";

const SERVERS = 50;
const DOWN_MS = 3000;
/** Longer than anything takes that is not stuck. */
const PATIENCE_S = 300;
/** So long the platform takes to answer a creation: with none, hardly one would be under way when the process is killed. */
const ANSWER_S = 0.3;

/**
 * SIGKILL when the platform has got half of the creations, and another process three seconds later. Time counts from the kill
 * to the last Ready.
 */
export const measureKill: Scenario = async (stage, note) => {
  const { client, platform, witness } = stage;
  const home = datacenter("dc-0");
  await create(client, [home]);
  await untilSure(() => (witness.ready === 1 ? undefined : "the Datacenter is not Ready"), {
    title: "kill",
    seconds: 120,
  });
  await platform.faults({ fault: "slow", seconds: ANSWER_S, route: "POST *" });
  const servers = Array.from({ length: SERVERS }, (_, index) => server(`server-${index}`, "dc-0"));
  const made = async () => (await platform.resources("servers")).length;
  const applied = create(client, servers);
  await untilSure(async () => ((await made()) >= SERVERS / 2 ? undefined : `${await made()} were made`), {
    title: "kill",
    seconds: 120,
    stepMs: 20,
  });
  await stage.operator.kill();
  const began = performance.now();
  say(`kill: ${await made()} Servers were on the platform, ${witness.ready - 1} were Ready`);
  await applied;
  await delay(DOWN_MS);
  stage.take(await stage.start());
  const count = allOf({ datacenters: [home], servers }).length;
  const missing = () => (witness.ready === count ? undefined : `${count - witness.ready} of ${count} not Ready`);
  await until(missing, { title: "kill", seconds: PATIENCE_S });
  note("killSeconds", (performance.now() - began) / 1000);
  note("killStuck", count - witness.ready);
  const known = new Set(witness.ids().values());
  const found = await platform.resources("servers");
  note("killOrphans", found.filter(({ id }) => !known.has(id)).length);
  const names = new Set(found.map(({ properties }) => properties?.name));
  note("killDuplicates", found.length - names.size);
  say(`kill: the platform has ${found.length} servers, namespace ${NAMESPACE} has ${SERVERS}`);
};
