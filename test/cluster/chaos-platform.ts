import { z } from "zod";
import { type SimulatorOptions, startSimulator } from "../../src/simulator/start.ts";
import { type Found, type Steering, steer } from "./steering.ts";

/** A platform that tests pull at. */
export interface Platform extends AsyncDisposable {
  readonly steering: Steering;
  readonly url: string;
  readonly token: string;
  /** Everything of this name in a collection. */
  named(collection: string, name: string): Promise<Found[]>;
  /** A call of another user of the same contract, who is made on first use. */
  asStranger(method: string, path: string, body?: unknown): Promise<unknown>;
}

const stranger = z.object({ token: z.string() });
let platforms = 0;

/** One of this process, which knows the addresses of all products. */
export interface OwnPlatform extends Platform {
  readonly endpoints: Record<string, string>;
}

/** Each has ids of its own, as those of a real platform are. */
export async function startPlatform(options: SimulatorOptions = {}): Promise<OwnPlatform> {
  platforms += 1;
  const simulator = await startSimulator({ speed: 20, seed: platforms, ...options });
  const { endpoints, token } = simulator.ready;
  return { ...platformAt(endpoints.api, token), endpoints, [Symbol.asyncDispose]: () => simulator.close() };
}

/** One that runs elsewhere: where its users reach it, and from where it can be steered, if that is another address. */
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
