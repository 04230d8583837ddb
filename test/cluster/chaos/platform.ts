import { z } from "zod";
import { type SimulatorOptions, startSimulator } from "../../../src/simulator/start.ts";
import { type Found, type Steering, steer } from "../steering.ts";

/** A platform that tests can control. */
export interface Platform extends AsyncDisposable {
  readonly steering: Steering;
  readonly url: string;
  readonly token: string;
  /** All items of a collection with this name. */
  named(collection: string, name: string): Promise<Found[]>;
  /** A call as another user of the same contract, created on first use. */
  asStranger(method: string, path: string, body?: unknown): Promise<unknown>;
}

const stranger = z.object({ token: z.string() });
let platforms = 0;

/**
 * The clock of a platform runs this many times as fast. A lost creation is searched for in a few minutes of that clock: at a speed
 * of 200, a POST that takes two seconds on a busy machine is not found.
 */
const SPEED = 20;

/** A platform in this process, with the addresses of all products. */
export interface OwnPlatform extends Platform {
  readonly endpoints: Record<string, string>;
}

/** Each platform has unique ids, like a real one. */
export async function startPlatform(options: SimulatorOptions = {}): Promise<OwnPlatform> {
  platforms += 1;
  const simulator = await startSimulator({ speed: SPEED, seed: platforms, ...options });
  const { endpoints, token } = simulator.ready;
  return { ...platformAt(endpoints.api, token), endpoints, [Symbol.asyncDispose]: () => simulator.close() };
}

/** A platform in another process: its address for users, and its control address if that differs. */
export function platformAt(url: string, token: string, control = url): Platform {
  const steering = steer(control, token);
  let other: Promise<Steering> | undefined;
  const introduce = async () => {
    const account = { username: "stranger@example.com", password: "a-password-of-theirs", role: "administrator" };
    return steer(control, stranger.parse(await steering.call("POST", "/_simulator/users", account)).token);
  };
  return {
    steering,
    url,
    token,
    async named(collection, name) {
      return (await steering.resources(collection)).filter(({ properties }) => properties?.name === name);
    },
    async asStranger(method, path, body) {
      other ??= introduce();
      return (await other).call(method, path, body);
    },
    async [Symbol.asyncDispose]() {},
  };
}
