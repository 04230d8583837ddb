import { describe, expect, it } from "vitest";
import { z } from "zod";
import { items, platformForFile, resource } from "../platform.ts";
import { groupBody, groups, groupsIn, scalerFor } from "../scaling.ts";

const platform = await platformForFile();
const scaler = scalerFor(platform);
const datacenter = await platform.datacenter();
const { group, put } = groupsIn(platform, datacenter);

describe("shrinking", () => {
  const names = async (path: string) => (await scaler.replicas(path)).map(({ properties }) => properties.name);
  const shrunk = async (terminationPolicy: string) => {
    const path = await group({ minReplicaCount: 1 }, { scaleIn: { terminationPolicy } });
    for (const minReplicaCount of [2, 3, 4]) {
      await put(path, { minReplicaCount }, { scaleIn: { terminationPolicy } });
      await platform.advance(15);
    }
    const before = await names(path);
    await put(path, { minReplicaCount: 1, maxReplicaCount: 2 }, { scaleIn: { terminationPolicy } });
    await platform.advance(15);
    return { before, after: await names(path) };
  };

  it("takes the oldest first", async () => {
    const { before, after } = await shrunk("OLDEST_SERVER_FIRST");
    expect(after).toEqual(before.slice(2));
  });

  it("takes the newest first", async () => {
    const { before, after } = await shrunk("NEWEST_SERVER_FIRST");
    expect(after).toEqual(before.slice(0, 2));
  });

  it("takes any, by chance", async () => {
    const { before, after } = await shrunk("RANDOM");
    expect(after).toHaveLength(2);
    expect(before).toEqual(expect.arrayContaining(after));
  });

  it.each([
    [true, 1],
    [false, 2],
  ])("with deleteVolumes %s leaves %i volumes", async (deleteVolumes, left) => {
    const own = await platform.datacenter();
    const path = await scaler.group(
      groupBody(own, { minReplicaCount: 1, targetReplicaCount: 2 }, { scaleIn: { deleteVolumes } }),
    );
    await platform.advance(300);
    await scaler.constant(path, 5);
    await platform.advance(45);
    expect(await scaler.servers(own)).toHaveLength(1);
    expect(items(await platform.core("GET", `${own}/volumes`))).toHaveLength(left);
  });
});

describe("a replica", () => {
  const removed = async (path: string) => {
    const [first] = await scaler.replicas(path);
    const server = `${datacenter}/servers/${first?.properties.datacenterServer.id}`;
    await platform.done("DELETE", `${server}?deleteVolumes=true`);
    return first;
  };

  it("that somebody deletes is replaced", async () => {
    const path = await group();
    const first = await removed(path);
    await platform.advance(45);
    const replicas = await scaler.replicas(path);
    expect(replicas).toHaveLength(2);
    expect(replicas.map(({ id }) => id)).not.toContain(first?.id);
  });

  it("joins the target group of its NIC when it is up, and leaves it when it goes", async () => {
    const made = await platform.done("POST", "/targetgroups", {
      properties: {
        name: "web",
        algorithm: "ROUND_ROBIN",
        protocol: "HTTP",
        targets: [{ ip: "10.9.9.9", port: 80, weight: 1 }],
      },
    });
    const targetGroupId = resource(made).id;
    const members = async () => {
      const { properties } = resource(await platform.core("GET", `/targetgroups/${targetGroupId}`));
      return z.array(z.looseObject({ ip: z.string(), port: z.number(), weight: z.number() })).parse(properties.targets);
    };
    const parts = { nic: { targetGroup: { targetGroupId, port: 8080, weight: 7 } } };
    const answer = await platform.call("POST", groups, groupBody(datacenter, {}, parts));
    const path = `${groups}/${resource(answer).id}`;
    expect(await members()).toHaveLength(1);
    await platform.advance(15);
    const addresses = [];
    for (const { properties } of await scaler.replicas(path)) {
      const nics = await platform.core("GET", `${datacenter}/servers/${properties.datacenterServer.id}/nics?depth=1`);
      addresses.push(...items(nics).map((nic) => z.object({ ips: z.array(z.string()) }).parse(nic.properties).ips[0]));
    }
    const joined = (await members()).slice(1);
    expect(joined.map(({ ip }) => ip).sort()).toEqual([...addresses].sort());
    for (const member of joined) expect(member).toMatchObject({ port: 8080, weight: 7 });

    await removed(path);
    await platform.advance(45);
    const after = await members();
    expect(after).toHaveLength(3);
    expect(after.map(({ ip }) => ip)).not.toContain(addresses[0]);

    await platform.call("DELETE", path);
    await platform.advance(15);
    expect(await members()).toMatchObject([{ ip: "10.9.9.9" }]);
  });
});
