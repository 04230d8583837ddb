import { afterAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { startSimulator } from "../../../src/simulator/start.ts";
import { callerFor } from "../platform.ts";
import { fullContract } from "../tenant.ts";

const simulator = await startSimulator({ speed: 0.001 });
afterAll(() => simulator.close());
const platform = callerFor(simulator);
await fullContract(platform);
const patient = { inference: { perSecond: 10_000, burst: 10_000 } };
await platform.steer("PUT", "limits", patient);
const other = await platform.contract();
await other.steer("PUT", "limits", patient);
const otherUser = await other.user("somebody@other.example");
const colleague = await platform.user("colleague@example.org", { privileges: [] });

/** Values of parameters that are in no list, from the platform's catalogue. */
const words: Record<string, string> = {
  region: "de-fra",
  regionId: "de",
  locationId: "fra",
  siteId: "2",
  resourceType: "datacenter",
  gpuId: "none",
  modelId: "BAAI%2Fbge-m3",
  contract: String(platform.ready.contractNumber),
  period: "2026-11",
  regionName: "eu-central-3",
  date: "2026-11-16",
};
/** Public to everybody. */
const everybodys = new Set([...Object.keys(words), "imageId", "templateId", "cdromId"]);

const routes = simulator.routes.filter(({ access }) => access === "user");
const named = z.looseObject({ id: z.string() });
const list = z.union([
  z.object({ items: z.array(named) }).transform(({ items }) => items),
  z.object({ tokens: z.array(named) }).transform(({ tokens }) => tokens),
  z.object({ invoices: z.array(named) }).transform(({ invoices }) => invoices),
  z.array(z.looseObject({ id: z.int().transform(String) })),
]);
const firstIds = new Map<string, string>();

/** The id of the owner's first resource in a collection. */
async function firstIn(collection: string): Promise<string> {
  const known = firstIds.get(collection);
  if (known !== undefined) return known;
  const answer = await platform.call("GET", collection);
  const [first] = list.parse(answer.body);
  if (first === undefined) throw new Error(`there is nothing in ${collection} that a stranger could want`);
  firstIds.set(collection, first.id);
  return first.id;
}

/** The list of datacenters for billing paths. */
const datacenters = "/cloudapi/v6/datacenters";

const unknown = (id: string) => (/^[\da-f]{8}-/.test(id) ? "00000000-0000-4000-8000-000000000000" : "999");

/** A path to a resource of the owner, and the same path with an id that does not exist. */
async function pathsOf(template: string): Promise<{ real: string; fake: string; ids: string[] }> {
  const paths = { real: "", fake: "", ids: [] as string[] };
  for (const segment of template.split("/").slice(1)) {
    const name = /^\{(\w+)\}$/.exec(segment)?.[1];
    const collection = template.startsWith("/billing/") && name === "datacenterId" ? datacenters : paths.real;
    const id = name === undefined ? segment : (words[name] ?? (await firstIn(collection)));
    paths.fake += `/${name === undefined || everybodys.has(name) ? id : unknown(id)}`;
    paths.real += `/${id}`;
    if (name !== undefined) paths.ids.push(id);
  }
  return paths;
}

const row = z.looseObject({ createdByUserId: z.string().optional(), userId: z.string().optional() });

/** Everything in the contract, without the stranger's own resources. */
async function holdings(strangerId: string): Promise<Record<string, unknown>> {
  const { now: _, ...state } = z.record(z.string(), z.unknown()).parse(await platform.steer("GET", "state"));
  const others = (each: unknown) => {
    const { createdByUserId, userId } = row.parse(each);
    return createdByUserId !== strangerId && userId !== strangerId;
  };
  return Object.fromEntries(
    Object.entries(state).map(([name, value]) => [name, Array.isArray(value) ? value.filter(others) : value]),
  );
}

const uuid = /[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[\da-f]{4}-[\da-f]{12}/g;

const offers = await Promise.all(["/images", "/templates"].map((path) => platform.core("GET", path)));
const offered = new Set(offers.flatMap((answer) => list.parse(answer.body)).map(({ id }) => id));

/** The ids of everything in the contract. */
const secrets = (held: object, strangerId: string) =>
  new Set(
    JSON.stringify(held)
      .match(uuid)
      ?.filter((id) => id !== strangerId && !offered.has(id)),
  );

const body = { properties: { name: "intruder" }, name: "intruder", ids: [] };

describe.each([
  ["the owner of another contract", other.ready.token, ""],
  ["a user of another contract", otherUser.token, otherUser.userId],
  ["a user of the same contract whom nothing is shared with", colleague.token, colleague.userId],
])("%s", (_, token, strangerId) => {
  const call = (method: string, path: string) =>
    platform.call(method, path, method === "GET" || method === "DELETE" ? undefined : body, {
      authorization: `Bearer ${token}`,
    });

  it("sees and changes nothing, whatever route he takes", async () => {
    let before = await holdings(strangerId);
    const known = secrets(before, strangerId);
    // The stranger may have created a pipeline with the same id by PUT in another contract.
    for (const id of JSON.stringify(await other.steer("GET", "state")).match(uuid) ?? []) known.delete(id);
    expect(known.size).toBeGreaterThan(60);
    const leaks: unknown[] = [];
    for (const { method, template } of routes) {
      const { real, fake, ids } = await pathsOf(template);
      const answer = await call(method, real);
      const text = JSON.stringify(answer.body) ?? "";
      const reported = text.match(uuid)?.filter((id) => known.has(id) && !ids.includes(id)) ?? [];
      if (reported.length > 0) leaks.push({ method, template, reported });
      const asUnknown = await call(method, fake);
      if (answer.status !== asUnknown.status) {
        leaks.push({ method, template, status: answer.status, ofSomethingUnknown: asUnknown.status });
      }
      if (method === "GET") continue;
      const after = await holdings(strangerId);
      if (JSON.stringify(after) !== JSON.stringify(before)) leaks.push({ method, template, changed: true });
      before = after;
    }
    expect(leaks).toEqual([]);
  });
});

it("the owner reaches all of it by the same paths", async () => {
  const unreached: unknown[] = [];
  for (const { template } of routes.filter(({ method }) => method === "GET")) {
    if (template.endsWith("{gpuId}")) continue;
    const { real } = await pathsOf(template);
    const { status } = await platform.call("GET", real);
    if (status >= 300) unreached.push({ template, status });
  }
  expect(unreached).toEqual([]);
});
