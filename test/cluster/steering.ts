import { z } from "zod";

const found = z.looseObject({
  id: z.string(),
  state: z.string().optional(),
  properties: z.looseObject({ name: z.string().nullish() }).optional(),
});
const state = z.record(z.string(), z.array(z.looseObject({})).catch([]));
/** What belongs to the platform's users and its log, not to what was made. */
const notMade = new Set(["requests", "users"]);

/** What the simulator's state shows as made, by collection, but for this token; those with nothing in them are left out. */
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

/** The strings with which a test pulls at the simulated platform, and its eyes on it. */
export interface Steering {
  readonly url: string;
  readonly token: string;
  /** What exists, by collection: `datacenters`, `servers` … */
  resources(collection: string): Promise<Found[]>;
  /** All of it; collections with nothing in them are left out. */
  made(): Promise<Record<string, Found[]>>;
  calls(): Promise<Calls>;
  resetCalls(): Promise<void>;
  /** Replaces the fault plan; without rules all is well again. */
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
  return {
    url,
    token,
    resources: async (collection) => (await made())[collection] ?? [],
    made,
    calls: async () => calls.parse(await send("GET", "/_simulator/calls")),
    resetCalls: async () => void (await send("POST", "/_simulator/calls/reset")),
    faults: async (...rules) => void (await send("PUT", "/_simulator/faults", { rules })),
    call: send,
  };
}
