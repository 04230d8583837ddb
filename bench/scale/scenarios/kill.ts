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
/** After so many creations three of them reach the platform and are never executed, and two more come after them. */
const EXECUTED = 20;
const LOST = 3;
const KILLED_AT = EXECUTED + 2;

/**
 * SIGKILL in the middle of the creations: some are executed and not answered, some neither, some not sent. Another process
 * three seconds later; time counts from the kill to the last Ready. What was never executed is sent again much later than the
 * rest is found.
 */
export const measureKill: Scenario = async (stage, note) => {
  const { client, platform, witness } = stage;
  const home = datacenter("dc-0");
  await create(client, [home]);
  await untilSure(() => (witness.ready === 1 ? undefined : "the Datacenter is not Ready"), {
    title: "kill",
    seconds: 120,
  });
  await platform.faults(
    { fault: "slow", seconds: ANSWER_S, route: "POST *" },
    { fault: "hang", executed: false, route: "POST *", skip: EXECUTED, count: LOST },
  );
  const servers = Array.from({ length: SERVERS }, (_, index) => server(`server-${index}`, "dc-0"));
  const made = async () => (await platform.resources("servers")).length;
  const applied = create(client, servers);
  await untilSure(async () => ((await made()) >= KILLED_AT ? undefined : `${await made()} were made`), {
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
  const untilReady = (least: number) =>
    until(() => (witness.ready >= least ? undefined : `${least - witness.ready} of ${least} not Ready`), {
      title: "kill",
      seconds: PATIENCE_S,
    });
  await untilReady(count - LOST);
  note("killFound", (performance.now() - began) / 1000);
  await untilReady(count);
  note("killSeconds", (performance.now() - began) / 1000);
  note("killStuck", count - witness.ready);
  const known = new Set(witness.ids().values());
  const found = await platform.resources("servers");
  note("killOrphans", found.filter(({ id }) => !known.has(id)).length);
  const names = new Set(found.map(({ properties }) => properties?.name));
  note("killDuplicates", found.length - names.size);
  say(`kill: the platform has ${found.length} servers, namespace ${NAMESPACE} has ${SERVERS}`);
};
