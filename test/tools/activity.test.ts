import { afterAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { openSources } from "../../src/cli/tools/sources.ts";
import type { Sources } from "../../src/diagnostics/sources.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import { perform } from "../../src/tools/perform.ts";
import { type Platform, startPlatform } from "../simulator/platform.ts";
import { rowOf } from "./landscape.ts";

const MANY = 12_000;
/** The relevant entries are among many others of a busy contract. */
const busy = async (platform: Platform) => {
  await platform.advance(3 * 3600);
  await platform.steer("POST", "activity", { count: MANY, seconds: 3600 });
};

const platform = await startPlatform();
const datacenter = await platform.datacenter();
const id = datacenter.split("/").at(-1) ?? "";
await busy(platform);
const { token, endpoints, contractNumber: contract } = platform.ready;
const settings = { account: undefined, namespace: undefined, kubeconfig: undefined, tokenFile: undefined };
const opened = openSources(settings, { MOORING_TOKEN: token, MOORING_ENDPOINTS: JSON.stringify(endpoints) });
afterAll(async () => {
  await opened[Symbol.asyncDispose]();
  await platform.close();
});

const object: KubeObject = {
  apiVersion: "mooring.dev/v1alpha1",
  kind: "Datacenter",
  metadata: { name: "prod", namespace: "shop" },
  status: { id },
};
const steps: number[] = [];
const sources: Sources = {
  platform: opened.platform,
  cluster: async () => ({
    namespace: "shop",
    find: async () => object,
    list: async () => [],
    ask: async () => undefined,
  }),
  now: Date.now,
  signal: new AbortController().signal,
  progress: (done) => steps.push(done),
};
const answer = z.looseObject({
  events: z.array(z.looseObject({ time: z.string(), user: z.string() })),
  total: z.number().optional(),
  truncated: z.boolean().optional(),
  next_offset: z.number().optional(),
  continue_with: z.object({ until: z.string() }).optional(),
});
const ask = async (name: string, args: object) =>
  answer.parse((await perform(rowOf(name), args, sources)).structuredContent);
const events = (args: object) => ask("list_activitylog_events", { contract, ...args });

describe("a question over a long activity log", { timeout: 120_000 }, () => {
  it("finds the one entry among thousands, and says that there are no more", async () => {
    const { events: found, total, truncated } = await events({ user: "owner", event_types: ["Provision"] });
    expect(found).toMatchObject([{ resources: [{ id }] }]);
    expect({ truncated, isAll: (total ?? 0) > MANY }).toEqual({ truncated: false, isAll: true });
    expect(steps.at(-1)).toBeGreaterThan(MANY);
  });

  it("answers the newest first, and names where to go on", async () => {
    const first = await events({ limit: 3 });
    expect(first).toMatchObject({ truncated: true, next_offset: 3 });
    const next = await events({ limit: 3, offset: first.next_offset });
    const times = [...first.events, ...next.events].map(({ time }) => Date.parse(time));
    expect(times).toEqual(times.toSorted((a, b) => b - a));
    expect(new Set(times).size).toBe(6);
  });

  it("says that nothing matches only when all was searched", async () => {
    expect(await events({ user: "nobody" })).toMatchObject({
      events: [],
      truncated: false,
      note: expect.stringMatching(/^none of the 12\d{3} entries of this period matches$/),
    });
  });

  it("tells who changed an object before the newest thousands, and goes on where it was cut", async () => {
    const asked = { kind: "Datacenter", name: "prod" };
    const whole = await ask("list_object_activity", { ...asked, since: "1d" });
    expect(whole).toMatchObject({ id, events: [{}, {}, {}] });
    expect(whole).not.toHaveProperty("truncated");
    const changes = z.looseObject({
      changes: z.array(z.looseObject({ time: z.string() })),
      truncated: z.literal(true),
      continue_with: z.object({ until: z.string() }),
    });
    const listed = async (until?: string) =>
      changes.parse((await perform(rowOf("list_changes"), { since: "1d", until }, sources)).structuredContent);
    const first = await listed();
    const second = await listed(first.continue_with.until);
    const cut = Date.parse(first.continue_with.until);
    expect(first.changes.every(({ time }) => Date.parse(time) >= cut)).toBe(true);
    expect(second.changes.every(({ time }) => Date.parse(time) < cut)).toBe(true);
  });

  it("is answered with the newest entries by a platform whose clock is ahead, before that is known", async () => {
    await using ahead = new AsyncDisposableStack();
    const other = await startPlatform();
    ahead.defer(other.close);
    await other.advance(2 * 3600);
    const made = (await other.datacenter()).split("/").at(-1) ?? "";
    const env = { MOORING_TOKEN: other.ready.token, MOORING_ENDPOINTS: JSON.stringify(other.ready.endpoints) };
    const { platform } = ahead.use(openSources(settings, env));
    const cluster = { ...(await sources.cluster()), find: async () => ({ ...object, status: { id: made } }) };
    const found = await perform(
      rowOf("list_object_activity"),
      { kind: "Datacenter", name: "prod", since: "1d" },
      { ...sources, platform, cluster: async () => cluster },
    );
    expect(answer.parse(found.structuredContent).events.length).toBeGreaterThan(0);
  });
});
