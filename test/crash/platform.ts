import { randomBytes } from "node:crypto";
import { z } from "zod";
import { startSimulator } from "../../src/simulator/start.ts";
import { type Found, madeIn, type Steering, steer } from "../cluster/steering.ts";
import { routeOf } from "./calls.ts";

const request = z.looseObject({ method: z.string(), url: z.string(), status: z.string() });
const label = z.looseObject({ properties: z.looseObject({ value: z.string() }) });
const state = z.looseObject({ requests: z.array(request), labels: z.array(label) });

/** The whole state of the platform at one moment. */
export interface Snapshot {
  /** By collection: `datacenters`, `servers` … */
  resources: Record<string, Found[]>;
  /** Number of accepted POSTs by route: creations, and other writes that must not happen twice. */
  accepted: Record<string, number>;
  /** The values of labels, with the ids of the resource and of all that it is in. */
  labels: { value: string; ids: string[] }[];
  /** No request is in progress. */
  idle: boolean;
}

/** A platform for one life. */
export interface Platform extends AsyncDisposable {
  readonly steering: Steering;
  snapshot(): Promise<Snapshot>;
}

/**
 * How fast the platform's clock runs. The operator learns its offset from answers, so on a busy machine, with seconds
 * between two answers, a clock that runs much faster than real ones leaves the time in which a creation is searched for.
 */
const SPEED = 5;
/** Resources are made faster instead. */
const QUICK = { fault: "slow-provisioning", factor: 1 / 6 } as const;
/** In real seconds, below the operator's settle time: new resources are invisible for this long. */
const INVISIBLE_SECONDS = 1.5;

export async function startPlatform(seed: number): Promise<Platform> {
  const simulator = await startSimulator({ seed, speed: SPEED });
  const { endpoints, token } = simulator.ready;
  const steering = steer(endpoints.api, token);
  await steering.faults(QUICK);
  return {
    steering,
    async snapshot() {
      const answer = await steering.call("GET", "/_simulator/state");
      const { requests, labels } = state.parse(answer);
      return {
        resources: madeIn(answer, token),
        labels: labels.map(({ properties: { value }, ...ids }) => ({ value, ids: Object.values(ids).map(String) })),
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

/** Makes the platform as slow to show new resources as the operator must tolerate. */
export async function hideNewResources({ steering }: Platform): Promise<void> {
  const hidden = { route: "POST *", fault: "late-visibility", seconds: INVISIBLE_SECONDS * SPEED };
  await steering.faults(QUICK, hidden);
}

/** Creates a user of the platform with a password. */
export async function addUser({ steering }: Platform, name: string): Promise<{ username: string; password: string }> {
  const login = { username: `${name}@example.org`, password: randomBytes(16).toString("base64url") };
  await steering.call("POST", "/_simulator/users", { ...login, role: "administrator" });
  return login;
}
