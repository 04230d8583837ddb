import type { Wanted } from "../../soak/verdict.ts";
import { judge, totals, unrest } from "../../soak/verdict.ts";
import { datacenter, server } from "../objects.ts";
import type { Steering } from "../steering.ts";
import type { Stage } from "./stage.ts";
import { until } from "./wait.ts";

const HOMES = 5;
const SERVERS_EACH = 3;
export const LOAD = HOMES * (1 + SERVERS_EACH);

const homes = Array.from({ length: HOMES }, (_, index) => `home-${index}`);
const servers = homes.flatMap((home) =>
  Array.from({ length: SERVERS_EACH }, (_, index) => ({ name: `${home}-server-${index}`, home })),
);
const account: Wanted = { kind: "Account", name: "main" };
const wanted: Wanted[] = [
  account,
  ...homes.map((name) => ({ kind: "Datacenter", name })),
  ...servers.map(({ name }) => ({ kind: "Server", name })),
];

/** Creates twenty objects at once: datacenters, and servers in them. */
export async function load(stage: Stage): Promise<void> {
  await stage.apply(
    ...homes.map((name) => datacenter(name)),
    ...servers.map(({ name, home }) => server(name, { datacenterRef: { name: home } })),
  );
}

/** Waits until some of the load is on the platform, but most of it is not. */
export async function untilUnderWay(platform: Steering): Promise<void> {
  await until(
    async () => {
      const made = (await platform.resources("datacenters")).length + (await platform.resources("servers")).length;
      return made >= LOAD / 4 ? undefined : `${made} of ${LOAD} are made`;
    },
    { title: "load", everyMs: 50 },
  );
}

/** Waits until all of the load is Ready, and returns a summary. */
export async function converged(stage: Stage, platform: Steering, forMs = 150_000): Promise<string> {
  await until(() => unrest(stage, wanted), { title: "converging", forMs, everyMs: 1000 });
  const problems = await judge([{ stage, wanted }], platform);
  return [totals(LOAD, problems), ...problems.map(({ message }) => message)].join("\n");
}

/** The summary of `converged` if nothing is duplicated or lost. */
export const asPromised = totals(LOAD, []);
