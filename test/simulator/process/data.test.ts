import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { items, refusal, resource, serverBody, startPlatform } from "../platform.ts";
import { startProcess } from "../process.ts";

let data: string;
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), "simulator-"));
});
afterEach(() => rmSync(data, { recursive: true, force: true }));

/** The state without its clock. */
const stateOf = async (platform: { steer(method: string, path: string): Promise<unknown> }) => {
  const { now, ...rest } = z.looseObject({ now: z.string() }).parse(await platform.steer("GET", "state"));
  return rest;
};

describe("a restart", () => {
  it("finds everything as it was: resources, requests, users, tokens, key and contract", async () => {
    const first = await startPlatform({ data, seed: 9 });
    const datacenter = await first.datacenter();
    await first.done("POST", `${datacenter}/servers`, serverBody());
    const { token, userId } = await first.user("kept@example.org");
    await first.share(datacenter, userId);
    await first.core("DELETE", `${datacenter}/lans/none`);
    const before = await stateOf(first);
    await first.close();

    const second = await startPlatform({ data });
    expect(second.ready).toEqual({ ...first.ready, endpoints: second.ready.endpoints });
    const anywhere = (value: unknown) => JSON.stringify(value).replaceAll(/127\.0\.0\.1:\d+/g, "host");
    expect(anywhere(await stateOf(second))).toBe(anywhere(before));
    const read = await second.core("GET", "/datacenters", undefined, { authorization: `Bearer ${token}` });
    expect(items(read)).toHaveLength(1);
    await second.close();
  });

  it("continues requests where they were, and never repeats an id", async () => {
    const first = await startPlatform({ data });
    const datacenter = await first.datacenter();
    const running = await first.core("POST", `${datacenter}/servers`, serverBody());
    await first.close();
    const second = await startPlatform({ data });
    expect(await second.requestOf(running)).toMatchObject({ status: "BUSY" });
    await second.advance(30);
    expect(await second.requestOf(running)).toMatchObject({ status: "DONE" });
    const another = await second.core("POST", `${datacenter}/servers`, serverBody());
    expect(resource(another).id).not.toBe(resource(running).id);
    await second.close();
  });

  it("goes on with zones, records and certificates, and issues no certificate twice", async () => {
    const first = await startPlatform({ data });
    const made = async (path: string, properties: object) =>
      resource(await first.call("POST", path, { properties })).id;
    const zone = await made("/dns/zones", { zoneName: "kept.example" });
    await made(`/dns/zones/${zone}/records`, { name: "www", type: "A", content: "192.0.2.1" });
    const acme = { name: "acme", email: "tls@kept.example", server: "https://acme.example/directory" };
    const provider = await made("/certificate-manager/providers", acme);
    const requested = { name: "www", provider, commonName: "www.kept.example", keyAlgorithm: "rsa2048" };
    await made("/certificate-manager/auto-certificates", requested);
    await first.close();
    const second = await startPlatform({ data });
    expect(resource(await second.call("GET", `/dns/zones/${zone}`)).metadata.state).toBe("PROVISIONING");
    await second.advance(5);
    expect(resource(await second.call("GET", `/dns/zones/${zone}`)).metadata.state).toBe("AVAILABLE");
    expect(items(await second.call("GET", `/dns/zones/${zone}/records?filter.state=AVAILABLE`))).toHaveLength(1);
    const certificates = () => second.call("GET", "/certificate-manager/certificates");
    for (const list of await Promise.all([certificates(), certificates()])) expect(items(list)).toHaveLength(1);
    await second.close();
  });

  it("never turns the clock back", async () => {
    const first = await startPlatform({ data });
    await first.advance(86400);
    await first.datacenter();
    await first.close();
    const second = await startPlatform({ data });
    const { now } = z.looseObject({ now: z.string() }).parse(await second.steer("GET", "state"));
    expect(Date.parse(now)).toBeGreaterThan(Date.now() + 86000_000);
    await second.close();
  });

  it("gives a new token when the old one was revoked", async () => {
    const first = await startPlatform({ data });
    await first.call("DELETE", "/auth/v1/tokens?criteria=ALL");
    await first.close();
    const second = await startPlatform({ data });
    expect(second.ready.token).not.toBe(first.ready.token);
    expect((await second.core("GET", "/datacenters")).status).toBe(200);
    await second.close();
  });

  it("refuses another seed and says which one is right", async () => {
    await (await startPlatform({ data, seed: 4 })).close();
    await expect(startPlatform({ data, seed: 5 })).rejects.toThrow("was made with the seed 4");
    await (await startPlatform({ data, seed: 4 })).close();
  });

  it("drops a line that a crash cut off, and only that", async () => {
    const first = await startPlatform({ data });
    const datacenter = await first.datacenter();
    await first.close();
    const [journal] = readdirSync(data).filter((name) => name.startsWith("journal-"));
    appendFileSync(join(data, journal ?? ""), '{"at":1,"changes":[{"table":"resour');
    const second = await startPlatform({ data });
    expect((await second.core("GET", datacenter)).status).toBe(200);
    await second.close();
  });

  it("keeps secrets from other users of the machine and leaves no lock behind", async () => {
    await (await startPlatform({ data })).close();
    expect(readdirSync(data)).not.toContain("lock");
    for (const name of readdirSync(data)) expect(statSync(join(data, name)).mode & 0o077).toBe(0);
  });

  it("compacts a journal that has grown", async () => {
    const platform = await startPlatform({ data });
    const datacenter = await platform.datacenter();
    const number = () => Number(/journal-(\d+)/.exec(readdirSync(data).join())?.[1]);
    const before = number();
    while (number() === before) {
      const body = { properties: { description: "x".repeat(250_000), name: "big" } };
      await platform.done("PUT", datacenter, body);
    }
    await platform.done("PATCH", datacenter, { name: "after" });
    await platform.close();
    const again = await startPlatform({ data });
    expect(resource(await again.core("GET", datacenter)).properties.name).toBe("after");
    await again.close();
  });
});

describe("two simulators on one directory", () => {
  it("are refused, in one process and in two, with the pid of the other", async () => {
    const first = await startPlatform({ data });
    await expect(startPlatform({ data })).rejects.toThrow(`in use by the process ${process.pid}`);
    const second = startProcess(["--data", data, "--json"]);
    expect(await second.exit).toBe(1);
    expect(second.stderr()).toContain(`in use by the process ${process.pid}`);
    await first.close();
  });

  it.each([
    ["a dead process", "999999999 1"],
    ["another process that got the same pid", `${process.pid} 1`],
    ["nobody", ""],
  ])("do not exist when the lock names %s: it is taken over", async (_, holder) => {
    writeFileSync(join(data, "lock"), holder);
    const platform = await startPlatform({ data });
    expect(readFileSync(join(data, "lock"), "utf8")).toMatch(new RegExp(`^${process.pid} `));
    await platform.close();
  });
});

describe("killed with SIGKILL", () => {
  it("has lost nothing that it had answered", async () => {
    const first = startProcess(["--data", data, "--json", "--speed", "0.001"]);
    const before = await first.platform();
    const datacenter = await before.datacenter();
    const accepted: string[] = [];
    let stop = false;
    const writers = Array.from({ length: 8 }, async () => {
      while (!stop) {
        const answer = await before.core("POST", `${datacenter}/servers`, serverBody()).catch(() => undefined);
        if (answer === undefined) return;
        accepted.push(resource(answer).id);
        if (accepted.length === 60) first.kill("SIGKILL");
      }
    });
    await first.exit;
    stop = true;
    await Promise.all(writers);

    const after = await startPlatform({ data });
    const { servers } = z
      .looseObject({ servers: z.array(z.looseObject({ id: z.string(), state: z.string() })) })
      .parse(await after.steer("GET", "state"));
    const found = new Set(servers.map(({ id }) => id));
    expect(accepted.filter((id) => !found.has(id))).toEqual([]);
    await after.advance(60);
    expect(items(await after.core("GET", `${datacenter}/servers?depth=1`))).toHaveLength(servers.length);
    expect(
      (await after.core("GET", "/datacenters", undefined, { authorization: `Bearer ${before.ready.token}` })).status,
    ).toBe(200);
    refusal(await after.core("GET", "/datacenters", undefined, { authorization: "Bearer x" }), 401, "315");
    await after.close();
  }, 30_000);
});
