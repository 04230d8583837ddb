import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { type Landscape, landscape } from "../landscape.ts";
import { datacenter, lan, server } from "../objects.ts";

let world: Landscape;

beforeAll(async () => {
  world = await landscape({
    // Slow enough that two minutes on the platform are a few seconds here.
    simulator: ["--speed", "10"],
    // The resync is so long that only events cause a reconcile.
    operator: ["--create-deadline", "3s", "--settle", "3s", "--retry", "1s", "--resync", "1h"],
  });
  const lans = ["leak", "successor", "heir"];
  const servers = [...lies.map(({ name }) => name), "stale"];
  await world.apply(
    ...[...servers, ...lans, "many"].map((name) => datacenter(`${name}-dc`)),
    ...[...servers.map((name) => server(name, homeOf(name))), ...many],
    ...lans.map((name) => lan(name, homeOf(name))),
  );
  const all = [...[...servers, ...many.map(({ metadata }) => metadata.name)].map((name) => `server/${name}`)];
  await world.untilReady(...all, ...lans.map((name) => `lan/${name}`));
});

const core = "/cloudapi/v6/datacenters";
const route = (method: string, rest: string) => `${method} ${core}/{datacenterId}/${rest}`;
const message = '{.status.conditions[?(@.type=="Ready")].message}';
const made = z.looseObject({ id: z.string() });
const count = async (wanted: string) => (await world.platform.calls()).byRoute[wanted] ?? 0;
const idOf = (name: string) => world.value(name, "{.status.id}");
const isThere = async (collection: string, id: string) =>
  (await world.platform.resources(collection)).some((each) => each.id === id);

/** Answers that are no evidence for a deletion. */
const lies = [
  { title: "that is understood", lie: { set: { "properties.cores": "2" } }, why: /invalid answer.*cores/ },
  { title: "that shows its volumes", lie: { remove: ["entities"] }, why: /volumes/ },
  { title: "that shows what its volumes are", lie: { remove: ["entities.volumes.items"] }, why: /volumes/ },
].map((each) => ({ ...each, name: each.title.replaceAll(" ", "-") }));

/** A datacenter for each server, because a change of one server causes a read of the others in its datacenter. */
const homeOf = (name: string) => ({ datacenterRef: { name: `${name}-dc` } });
const pathOf = async (name: string) => `${core}/${await idOf(`datacenter/${name}-dc`)}`;
const many = Array.from({ length: 20 }, (_, index) => server(`many-${index}`, homeOf("many")));

/** A server at rest, and a volume that a person attaches to it. */
async function attachByHand(name: string): Promise<{ id: string; boot: string; theirs: string }> {
  const path = await pathOf(name);
  const id = await idOf(`server/${name}`);
  const properties = { name: `${name}-theirs`, size: 10, type: "HDD", licenceType: "OTHER" };
  const theirs = made.parse(await world.platform.call("POST", `${path}/volumes`, { properties })).id;
  const shown = async () => (await world.platform.resources("volumes")).find((each) => each.id === theirs);
  await expect.poll(shown).toMatchObject({ state: "AVAILABLE" });
  await world.platform.call("POST", `${path}/servers/${id}/volumes`, { id: theirs });
  await expect.poll(shown).toMatchObject({ state: "AVAILABLE", serverId: id });
  return { id, boot: await world.value(`server/${name}`, "{.status.bootVolumeId}"), theirs };
}

const deletion = route("DELETE", "servers/{serverId}");
const reads = async () => (await count(route("GET", "servers"))) + (await count(route("GET", "servers/{serverId}")));

describe("a server is deleted with its volumes only on an answer", () => {
  for (const { title, name, lie, why } of lies) {
    it(`${title}: it waits until then, says why, and continues by itself`, async () => {
      const { id, boot, theirs } = await attachByHand(name);
      await world.platform.faults({ route: route("GET", "servers*"), fault: "altered-answer", id, ...lie });
      await world.platform.resetCalls();
      await world.askToRemove(`server/${name}`);
      await expect.poll(async () => (await reads()) >= 2 || (await count(deletion)) > 0).toBe(true);
      expect(await count(deletion)).toBe(0);
      expect(await isThere("servers", id)).toBe(true);
      expect(await isThere("volumes", theirs)).toBe(true);
      await expect.poll(() => world.value(`server/${name}`, message)).toMatch(why);

      await world.platform.faults();
      await world.untilGone(`server/${name}`);
      expect(await isThere("servers", id)).toBe(false);
      expect(await isThere("volumes", boot)).toBe(false);
      expect(await isThere("volumes", theirs)).toBe(true);
    });
  }

  it("that was read after the deletion was asked for: a volume attached by hand meanwhile survives", async () => {
    const { id, boot, theirs } = await attachByHand("stale");
    await world.remove("server/stale");
    expect(await isThere("servers", id)).toBe(false);
    expect(await isThere("volumes", boot)).toBe(false);
    expect(await isThere("volumes", theirs)).toBe(true);
  });

  it("that one list gives for all: 20 servers deleted together cost no list and no read each", async () => {
    await world.platform.resetCalls();
    await world.remove(...many);
    expect(await count(deletion)).toBe(20);
    expect(await count(route("GET", "servers"))).toBeLessThanOrEqual(10);
    // Each server costs two reads to follow its own deletion.
    expect(await count(route("GET", "servers/{serverId}"))).toBeLessThan(3 * 20);
  });
});

describe("a LAN", () => {
  const named = async (name: string) =>
    (await world.platform.resources("lans")).filter(({ properties }) => properties?.name === name);

  it("whose DELETE is answered 404 once, though it is there, is deleted all the same", async () => {
    const refusal = { route: route("DELETE", "lans/{lanId}"), fault: "status", status: 404, count: 1 };
    await world.platform.faults(refusal);
    await world.platform.resetCalls();
    await world.remove("lan/leak");
    expect(await count(refusal.route)).toBeGreaterThanOrEqual(1);
    expect(await named("leak")).toEqual([]);
    await world.untilGone("lan/leak");
  });

  /** Our LAN is deleted by hand, and another one gets its number seconds later, before the next list. */
  async function replacedByHand(name: string) {
    const path = await pathOf(name);
    const number = await idOf(`lan/${name}`);
    await world.platform.call("DELETE", `${path}/lans/${number}`);
    await expect.poll(() => named(name)).toEqual([]);
    const properties = { name: `${name}-theirs`, public: false };
    await world.platform.call("POST", `${path}/lans`, { properties });
    const theirs = () => named(properties.name);
    await expect.poll(theirs).toEqual([expect.objectContaining({ id: number, state: "AVAILABLE" })]);
    return { theirs, untouched: [expect.objectContaining({ id: number, properties: await shown(theirs) })] };
  }
  const shown = async (lans: () => ReturnType<typeof named>) => (await lans())[0]?.properties;

  it("that a stranger made seconds later under the number of ours is not changed when ours is", async () => {
    const { theirs, untouched } = await replacedByHand("successor");
    await world.patch("lan/successor", { spec: { public: true } });
    await expect
      .poll(async () => [...(await named("successor")), ...(await theirs())])
      .toEqual([expect.objectContaining({ properties: expect.objectContaining({ public: true }) }), ...untouched]);
    await world.untilReady("lan/successor");
    expect(await theirs()).toEqual(untouched);
  });

  it("that a stranger made seconds later under the number of ours is not deleted when ours is", async () => {
    const { theirs, untouched } = await replacedByHand("heir");
    await world.remove("lan/heir");
    await world.untilGone("lan/heir");
    expect(await theirs()).toEqual(untouched);
  });
});
