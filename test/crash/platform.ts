import { randomBytes } from "node:crypto";
import { z } from "zod";
import { startSimulator } from "../../src/simulator/start.ts";
import { type Found, madeIn, type Steering, steer } from "../cluster/steering.ts";
import { routeOf } from "./calls.ts";

const request = z.looseObject({ method: z.string(), url: z.string(), status: z.string() });
const state = z.looseObject({ requests: z.array(request) });

/** Everything that is on the platform at one moment, seen from the inside. */
export interface Snapshot {
  /** By collection: `datacenters`, `servers` … */
  resources: Record<string, Found[]>;
  /** How many POSTs the platform has ever accepted, by route: creations, and what must not happen twice either. */
  accepted: Record<string, number>;
  /** Nothing is under way. */
  idle: boolean;
}

/** A platform of its own for one life. */
export interface Platform extends AsyncDisposable {
  readonly steering: Steering;
  snapshot(): Promise<Snapshot>;
}

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
      return {
        resources: madeIn(answer, token),
        accepted: countBy(requests.flatMap(({ method, url }) => (method === "POST" ? [routeOf("platform", url)] : []))),
        idle: requests.every(({ status }) => status === "DONE" || status === "FAILED"),
      };
    },
    [Symbol.asyncDispose]: () => simulator.close(),
  };
}

function countBy(names: readonly (string | undefined)[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) if (name !== undefined) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

/** From now on the platform is as slow to show what it made as the operator must be able to bear. */
export async function hideNewResources({ steering }: Platform): Promise<void> {
  await steering.faults({ route: "POST *", fault: "late-visibility", seconds: INVISIBLE_SECONDS * SPEED });
}

/** Makes a user of the platform who logs in with a password. */
export async function addUser({ steering }: Platform, name: string): Promise<{ username: string; password: string }> {
  const login = { username: `${name}@example.org`, password: randomBytes(16).toString("base64url") };
  await steering.call("POST", "/_simulator/users", { ...login, role: "administrator" });
  return login;
}
