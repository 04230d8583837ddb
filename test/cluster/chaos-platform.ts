import { z } from "zod";
import { type SimulatorOptions, startSimulator } from "../../src/simulator/start.ts";
import { type Found, type Steering, steer } from "./steering.ts";

/** A platform of its own, in this process. */
export interface Platform extends AsyncDisposable {
  readonly steering: Steering;
  readonly url: string;
  /** Of all products. */
  readonly endpoints: Record<string, string>;
  readonly token: string;
  /** Everything of this name in a collection. */
  named(collection: string, name: string): Promise<Found[]>;
  /** A call of another user of the same contract, who is made on first use. */
  asStranger(method: string, path: string, body?: unknown): Promise<unknown>;
}

const stranger = z.object({ token: z.string() });
let platforms = 0;

/** Each has ids of its own, as those of a real platform are. */
export async function startPlatform(options: SimulatorOptions = {}): Promise<Platform> {
  platforms += 1;
  const simulator = await startSimulator({ speed: 20, seed: platforms, ...options });
  const { endpoints, token } = simulator.ready;
  const steering = steer(endpoints.api, token);
  let other: Promise<Steering> | undefined;
  const introduce = async () => {
    const account = { username: "stranger@example.com", password: "a-password-of-theirs", role: "administrator" };
    return steer(endpoints.api, stranger.parse(await steering.call("POST", "/_simulator/users", account)).token);
  };
  return {
    steering,
    url: endpoints.api,
    endpoints,
    token,
    async named(collection, name) {
      return (await steering.resources(collection)).filter(({ properties }) => properties?.name === name);
    },
    async asStranger(method, path, body) {
      other ??= introduce();
      return (await other).call(method, path, body);
    },
    [Symbol.asyncDispose]: () => simulator.close(),
  };
}
