import { describe, expect, it } from "vitest";
import { scalingGroup } from "../../../../src/kinds/compute/scaling-group/scaling-group.ts";
import { mapped, nothing } from "../../mapped.ts";
import { group, groupItem } from "./groups.ts";

const at = (minute: number) => `2026-05-01T12:${String(minute).padStart(2, "0")}:00.000Z`;
const replica = (name: string, minute: number) => ({
  id: `replica-${name}`,
  metadata: { createdDate: at(minute) },
  properties: { name, datacenterServer: { id: `srv-${name}`, type: "server" } },
});
const action = (actionType: string, minute: number, actionStatus = "SUCCESSFUL") => ({
  id: `action-${minute}`,
  metadata: { createdDate: at(minute) },
  properties: { actionType, actionStatus },
});

interface Group {
  servers?: object[];
  actions?: object[];
  modified?: number;
  spec?: object;
}
const item = ({ servers = [], actions = [], modified = 0, spec = group() }: Group) => ({
  ...groupItem(spec),
  metadata: { lastModifiedDate: at(modified) },
  entities: { servers: { items: servers }, actions: { items: actions } },
});
const facts = (given: Group, shown: Record<string, unknown> = {}, platformNow = Date.parse(at(0))) =>
  mapped(scalingGroup).comparison.facts(item(given), { ...nothing, shown, platformNow });

describe("the replicas of a group", () => {
  it("are told by name, which is no id, and by the id of the server behind it", () => {
    expect(facts({ servers: [replica("a", 1), replica("b", 2)] })).toMatchObject({
      replicas: 2,
      servers: [
        { name: "a", serverId: "srv-a" },
        { name: "b", serverId: "srv-b" },
      ],
    });
  });

  it("have the addresses of their servers if asked for: those of the last read while the servers cannot be read", () => {
    const properties = { name: "public", ips: ["203.0.113.7"], ipv6Ips: [], mac: "02:01" };
    const machine = { id: "srv-a", properties: {}, entities: { nics: { items: [{ id: "n", properties }] } } };
    const given = { servers: [replica("a", 1), replica("b", 2)] };
    const a = { name: "a", serverId: "srv-a", nics: [{ name: "public", ips: ["203.0.113.7"] }] };
    const b = { name: "b", serverId: "srv-b" };
    const factsOf = (related: Map<string, unknown> | undefined, shown = {}) =>
      mapped(scalingGroup).comparison.facts(item(given), { ...nothing, shown, ...(related && { related }) }).servers;
    const read = new Map([["srv-a", machine]]);
    expect(factsOf(read)).toEqual([a, b]);
    expect(factsOf(new Map(), { servers: [a, b] })).toEqual([a, b]);
    expect(factsOf(new Map([["srv-a", undefined]]), { servers: [a, b] })).toEqual([
      { name: "a", serverId: "srv-a" },
      b,
    ]);
    expect(factsOf(undefined, { servers: [a, b] })).toEqual([{ name: "a", serverId: "srv-a" }, b]);
    expect(scalingGroup.status.strict().parse({ servers: factsOf(read) })).toEqual({ servers: [a, b] });
  });

  it("are counted even where nothing but their ids is known", () => {
    const { replicas, servers } = facts({ servers: [{ id: "replica-a" }, { id: "replica-b", properties: null }] });
    expect({ replicas, servers }).toEqual({ replicas: 2, servers: undefined });
  });

  it("can be none", () => {
    expect(facts({})).toEqual({
      replicas: 0,
      minReplicas: 2,
      maxReplicas: 5,
      replicaConfiguration: { hash: expect.any(String), old: 0 },
    });
  });
});

describe("the actions of a group", () => {
  it("are the last five, newest first, in whatever order the platform lists them", () => {
    const actions = [1, 6, 3, 5, 2, 4].map((minute) => action("SCALE_OUT", minute));
    expect(facts({ actions }).actions).toEqual(
      [6, 5, 4, 3, 2].map((minute) => ({ type: "SCALE_OUT", status: "SUCCESSFUL", startedAt: at(minute) })),
    );
  });

  it("leave out those of which only the id is known", () => {
    expect(facts({ actions: [{ id: "action-1" }] })).not.toHaveProperty("actions");
  });

  it.each([
    ["SCALE_OUT", "10 minutes", at(13)],
    ["SCALE_IN", "the default of 5 minutes", at(8)],
  ])("%s cools down from its start for %s", (type, _, until) => {
    expect(facts({ actions: [action("SCALE_OUT", 1), action(type, 3, "IN_PROGRESS")] }).nextActionAt).toBe(until);
  });

  it("cool down for 5 minutes where the platform does not say", () => {
    const found = { ...item({ actions: [action("SCALE_IN", 3)] }), properties: {} };
    expect(mapped(scalingGroup).comparison.facts(found, { ...nothing, platformNow: 0 }).nextActionAt).toBe(at(8));
  });

  it("say nothing of a cooldown that is over, and until then when it will be", () => {
    const { facts: factsOf, changesAt } = mapped(scalingGroup).comparison;
    const given = { actions: [action("SCALE_IN", 3)] };
    const ends = Date.parse(at(8));
    const before = facts(given, {}, ends - 1);
    expect([before.nextActionAt, changesAt?.(before)]).toEqual([at(8), ends]);
    const after = facts(given, {}, ends);
    expect(after).not.toHaveProperty("nextActionAt");
    expect(changesAt?.(after)).toBeUndefined();
    expect(factsOf(item(given), nothing)).not.toHaveProperty("nextActionAt");
  });
});

describe("the limits of a group", () => {
  it("are those of the platform, also where spec has none", () => {
    expect(facts({})).toMatchObject({ minReplicas: 2, maxReplicas: 5 });
    const columns = Object.fromEntries(scalingGroup.columns.map(({ name, path }) => [name, path]));
    expect(columns).toMatchObject({ Min: ".status.minReplicas", Max: ".status.maxReplicas" });
  });
});

describe("the template of replicas", () => {
  const servers = [replica("a", 1), replica("b", 2), replica("c", 20)];
  const first = facts({ servers });
  const changed = { servers, modified: 10, spec: group({}, { cores: 4 }) };
  const { replicaConfiguration: now } = facts(changed, first);

  it("counts none as old before it has changed", () => {
    expect(first.replicaConfiguration).toEqual({ hash: expect.any(String), old: 0 });
  });

  it("counts those as old that were there before it changed: they keep what they were made of", () => {
    expect(now).toEqual({ hash: expect.any(String), since: at(10), old: 2 });
    expect(now).not.toHaveProperty("hash", Reflect.get(first.replicaConfiguration ?? {}, "hash"));
  });

  it("remembers since when, while the group changes in other ways", () => {
    const later = { ...changed, modified: 30, spec: group({ maxReplicas: 9 }, { cores: 4 }) };
    expect(facts(later, { replicaConfiguration: now }).replicaConfiguration).toEqual(now);
  });

  it("counts fewer as the old ones go", () => {
    const later = { ...changed, servers: servers.slice(1) };
    expect(facts(later, { replicaConfiguration: now }).replicaConfiguration).toMatchObject({ old: 1 });
  });
});

it("all of it fits into status", () => {
  const all = facts({ servers: [replica("a", 1)], actions: [action("SCALE_OUT", 1)] });
  expect(scalingGroup.status.strict().parse(all)).toEqual(all);
});
