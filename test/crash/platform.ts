import { z } from "zod";
import { startSimulator } from "../../src/simulator/start.ts";
import { type Steering, steer } from "../cluster/steering.ts";

const resource = z.looseObject({ id: z.string(), properties: z.record(z.string(), z.unknown()).optional() });
const request = z.looseObject({ method: z.string(), url: z.string(), status: z.string() });
const resources = z.record(z.string(), z.array(resource).catch([]));
const state = z.looseObject({ requests: z.array(request) });

export type Resource = z.output<typeof resource>;

/** Everything that is on the platform at one moment, seen from the inside. */
export interface Snapshot {
  /** By collection: `datacenters`, `servers` … */
  resources: Record<string, Resource[]>;
  /** How many creations in this collection the platform has ever accepted. */
  creations(collection: string): number;
  /** Nothing is under way. */
  idle: boolean;
}

/** A platform of its own for one life. */
export interface Platform extends AsyncDisposable {
  readonly steering: Steering;
  snapshot(): Promise<Snapshot>;
}

/** What belongs to the platform's user and its log, not to what was made. */
const notMade = new Set(["requests", "users", "tokens"]);
const SPEED = 30;
/** Real seconds, as long as the operator's settle time allows: what was created cannot be seen before. */
const INVISIBLE_SECONDS = 0.8;

export async function startPlatform(seed: number): Promise<Platform> {
  const simulator = await startSimulator({ seed, speed: SPEED });
  const { endpoints, token } = simulator.ready;
  const steering = steer(endpoints.api, token);
  return {
    steering,
    async snapshot() {
      const answer = await steering.call("GET", "/_simulator/state");
      const { requests } = state.parse(answer);
      const made = Object.entries(resources.parse(answer)).filter(([name]) => !notMade.has(name));
      return {
        resources: Object.fromEntries(made.filter(([, items]) => items.length > 0)),
        creations: (collection) =>
          requests.filter(({ method, url }) => method === "POST" && new URL(url).pathname.endsWith(`/${collection}`))
            .length,
        idle: requests.every(({ status }) => status === "DONE" || status === "FAILED"),
      };
    },
    [Symbol.asyncDispose]: () => simulator.close(),
  };
}

/** From now on the platform is as slow to show what it made as the operator must be able to bear. */
export async function becomeShy({ steering }: Platform): Promise<void> {
  await steering.faults({ route: "POST *", fault: "late-visibility", seconds: INVISIBLE_SECONDS * SPEED });
}
