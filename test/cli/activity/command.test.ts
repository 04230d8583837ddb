import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { temporaryFolder } from "../../../src/simulator/programs/swept.ts";
import { answer, scriptedServer } from "../../platform/scripted-server.ts";
import { mooring, run, start } from "../../processes.ts";
import { type Platform, platformForFile, resource } from "../../simulator/platform.ts";
import { paths } from "../scripted-platform.ts";

const shared = await platformForFile();
const folder = temporaryFolder("activity");
afterAll(() => folder.remove());

const envOf = ({ ready }: Platform, token = ready.token) => ({
  PATH: process.env.PATH,
  MOORING_ENDPOINTS: JSON.stringify({ api: ready.endpoints.api }),
  MOORING_TOKEN: token,
});
const activity = (platform: Platform, ...args: string[]) =>
  run(mooring, ["activity", ...args], { env: envOf(platform) });

const line = z.object({ action: z.string(), resource: z.string(), status: z.string(), objects: z.array(z.unknown()) });
const linesOf = (stdout: string) =>
  stdout
    .split("\n")
    .slice(0, -1)
    .map((text) => line.parse(JSON.parse(text)));

// Each call is a process, which may be slow on a busy machine.
describe("mooring activity", { timeout: 60_000 }, () => {
  it("prints who changed what in the last day of the platform, oldest first, with the reason of a failure", async () => {
    const platform = await shared.contract({ username: "ann@example.org" });
    await platform.core("DELETE", "/ipblocks/1");
    await platform.advance(2 * 86_400);
    await platform.datacenter();
    await platform.core("DELETE", "/ipblocks/7");
    const { code, stdout, stderr } = await activity(platform);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const rows = stdout.split("\n").map((row) => row.split(/ {2,}/));
    expect(rows[0]).toEqual(["TIME", "USER", "EVENT", "STATUS", "ACTION", "RESOURCE", "OBJECT"]);
    expect(rows.slice(1, 5).map((row) => row.slice(1, 5).join(" "))).toEqual([
      "ann@example.org RequestAccepted QUEUED vr.datacenter.create",
      "ann@example.org Provision DONE vr.datacenter.create",
      "ann@example.org RequestStatusUpdate DONE vr.datacenter.create",
      "ann@example.org Error FAILED ip.ipblock.release",
    ]);
    expect(rows[5]).toEqual(["", "Request was refused with 404"]);
  });

  it("leaves reads out unless they are asked for", async () => {
    const platform = await shared.contract();
    await platform.core("DELETE", "/ipblocks/1");
    await platform.core("GET", "/ipblocks");
    const actions = async (...args: string[]) =>
      linesOf((await activity(platform, "-o", "ndjson", ...args)).stdout).map(({ action }) => action);
    expect(await actions()).toEqual(["ip.ipblock.release"]);
    expect(await actions("--reads")).toEqual(["ip.ipblock.release", "ip.ipblock.read"]);
    expect(await actions("--reads", "--action", "read")).toEqual(["ip.ipblock.read"]);
  });

  it("says when nothing matches, and exits with 1", async () => {
    const platform = await shared.contract();
    await platform.core("DELETE", "/ipblocks/1");
    const { code, stdout, stderr } = await activity(platform, "--resource", "server/nowhere", "--since", "2h");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^none of the \d+ (entry|entries) since 2\S+ matches --resource server\/nowhere\n$/);
    expect(await activity(platform, "--user", "nobody", "-o", "json")).toMatchObject({ code: 1, stdout: "[]\n" });
  });

  it("names the objects of the cluster, of the Account's namespace where it may read no other", async () => {
    const platform = await shared.contract();
    const datacenter = await platform.datacenter();
    const lan = resource(await platform.done("POST", `${datacenter}/lans`, { properties: { name: "a" } })).id;
    const other = await platform.datacenter();
    await platform.done("POST", `${other}/lans`, { properties: { name: "b" } });
    const datacenterId = datacenter.split("/").at(-1);
    const base = "/apis/mooring.dev/v1alpha1";
    const object = (name: string, status: object) => ({ metadata: { name, namespace: "team" }, status });
    const { api } = platform.ready.endpoints;
    const known = paths({
      [`${base}/namespaces/team/accounts/main`]: {
        spec: { endpoints: { api }, credentialsSecretRef: { name: "access" } },
      },
      "/api/v1/namespaces/team/secrets/access": {
        data: { token: Buffer.from(platform.ready.token).toString("base64") },
      },
      [`${base}/datacenters`]: { items: [object("prod", { id: datacenterId })] },
      [`${base}/namespaces/team/lans`]: {
        items: [object("inner", { id: lan, parents: { datacenter: datacenterId } })],
      },
    });
    const forbidden = answer(403, { kind: "Status", code: 403, reason: "Forbidden" });
    await using cluster = await scriptedServer((arrived, ...rest) =>
      (arrived.url.startsWith(`${base}/lans`) ? forbidden : known)(arrived, ...rest),
    );
    const KUBECONFIG = join(folder.path, "config");
    writeFileSync(
      KUBECONFIG,
      JSON.stringify({
        "current-context": "c",
        clusters: [{ name: "c", cluster: { server: cluster.url } }],
        contexts: [{ name: "c", context: { cluster: "c", namespace: "team" } }],
      }),
    );
    const env = { PATH: process.env.PATH, KUBECONFIG };
    const { code, stdout, stderr } = await run(
      mooring,
      ["activity", "--account", "main", "-o", "ndjson", "--action", "Provision"],
      { env },
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(linesOf(stdout).map(({ objects }) => objects)).toEqual([
      [{ kind: "Datacenter", namespace: "team", name: "prod" }],
      [{ kind: "Lan", namespace: "team", name: "inner" }],
      [],
      [],
    ]);
    const named = ["activity", "--account", "main", "--resource", "lan/team/inner", "--action", "Provision"];
    expect((await run(mooring, named, { env })).stdout.trimEnd().split("\n").at(-1)).toMatch(/Lan\/team\/inner$/);
  });

  it("follows the log, waits for as long as 429 asks, and ends on Ctrl-C", async () => {
    const platform = await shared.contract();
    await platform.core("DELETE", "/ipblocks/1");
    const following = start(mooring, ["activity", "--follow", "-o", "ndjson"], { env: envOf(platform) });
    expect(await following.line()).toContain("ipblock/1");
    await platform.faults({ fault: "status", status: 429, retryAfter: 1, route: "GET /activitylog/*", count: 2 });
    await platform.core("DELETE", "/ipblocks/2");
    expect(await following.line()).toContain("ipblock/2");
    await platform.faults();
    following.signal("SIGINT");
    expect(await following.ended).toBe(130);
    expect(following.output()).toMatch(/answered 429.*; trying again in 1 s/);
    expect(following.output().match(/^\{/gm)).toHaveLength(2);
  });

  it("names the privilege that is missing, without the token", async () => {
    const { token } = await shared.user("plain@example.org", { privileges: [] });
    const { code, stdout, stderr } = await run(mooring, ["activity"], { env: envOf(shared, token) });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("the token's user needs the privilege ACCESS_ACTIVITY_LOG");
    expect(stderr).not.toContain(token);
  });

  it("refuses wrong flags with exit code 2", async () => {
    const { code, stdout, stderr } = await activity(shared, "-o", "csv");
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("--output csv: unknown; valid: table, json, ndjson");
  });
});
