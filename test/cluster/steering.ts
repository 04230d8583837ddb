import { z } from "zod";

const found = z.looseObject({
  id: z.string(),
  state: z.string().optional(),
  properties: z.looseObject({ name: z.string().nullish() }).optional(),
});
const state = z.record(z.string(), z.array(z.looseObject({})).catch([]));
/** Collections of users, of the log, and of labels, which go with their resources: no created resources. */
const notMade = new Set(["requests", "users", "labels"]);

/** Created resources in the simulator's state by collection, without this token and without empty collections. */
export function madeIn(answer: unknown, token: string): Record<string, Found[]> {
  const [header = ""] = token.split(".");
  const { kid } = z.looseObject({ kid: z.string() }).parse(JSON.parse(Buffer.from(header, "base64url").toString()));
  const all = Object.entries(state.parse(answer)).filter(([name]) => !notMade.has(name));
  const made = all.map(
    ([name, items]) =>
      [
        name,
        z
          .array(found)
          .parse(items)
          .filter(({ id }) => id !== kid),
      ] as const,
  );
  return Object.fromEntries(made.filter(([, items]) => items.length > 0));
}
const calls = z.object({
  total: z.number(),
  byRoute: z.record(z.string(), z.number()),
  highestRatePerSecond: z.number(),
});

export type Found = z.output<typeof found>;
export type Calls = z.output<typeof calls>;

/** Controls the simulated platform, and reads its state. */
export interface Steering {
  readonly url: string;
  readonly token: string;
  /** The existing resources of a collection: `datacenters`, `servers` … */
  resources(collection: string): Promise<Found[]>;
  /** All of them; empty collections are left out. */
  made(): Promise<Record<string, Found[]>>;
  calls(): Promise<Calls>;
  resetCalls(): Promise<void>;
  /** Routes of the calls that changed something since the counters were reset. */
  writes(): Promise<string[]>;
  /** Replaces the fault plan; without rules there are no faults. */
  faults(...rules: object[]): Promise<void>;
  /** A call to the platform itself. */
  call(method: string, path: string, body?: unknown): Promise<unknown>;
}

export function steer(url: string, token: string): Steering {
  const send = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    return text === "" ? undefined : JSON.parse(text);
  };
  const made = async () => madeIn(await send("GET", "/_simulator/state"), token);
  const counted = async () => calls.parse(await send("GET", "/_simulator/calls"));
  return {
    url,
    token,
    resources: async (collection) => (await made())[collection] ?? [],
    made,
    calls: counted,
    writes: async () => Object.keys((await counted()).byRoute).filter((route) => !route.startsWith("GET ")),
    resetCalls: async () => void (await send("POST", "/_simulator/calls/reset")),
    faults: async (...rules) => void (await send("PUT", "/_simulator/faults", { rules })),
    call: send,
  };
}
