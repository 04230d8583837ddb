import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { z } from "zod";
import { toolsRights } from "../../../src/cli/manifests/tools-rights.ts";
import { kinds } from "../../../src/kinds/index.ts";
import { temporaryFolder } from "../../../src/simulator/programs/swept.ts";
import { program } from "../../run/program.ts";
import { cluster } from "../harness.ts";
import { type Landscape, landscape } from "../landscape.ts";
import { datacenter, server, volume } from "../objects.ts";

let world: Landscape;
let client: Client;
const folder = temporaryFolder("tools");
const results: string[] = [];

/** A client of a tool server that runs in the cluster of a kubeconfig. */
async function connected(kubeconfig: string, args: string[], env: Record<string, string>): Promise<Client> {
  const client = new Client({ name: "test", version: "1" });
  const given = { PATH: process.env.PATH ?? "", KUBECONFIG: kubeconfig, ...env };
  await client.connect(
    new StdioClientTransport({ command: program(), args: ["tools", ...args], env: given, stderr: "ignore" }),
  );
  return client;
}

const content = z.looseObject({ isError: z.boolean().optional(), structuredContent: z.looseObject({}).optional() });
async function ask(name: string, args: object = {}, by = client) {
  const result = await by.callTool({ name, arguments: { ...args } });
  results.push(JSON.stringify(result));
  const { isError, structuredContent } = content.parse(result);
  expect(isError, JSON.stringify(result)).toBeUndefined();
  return structuredContent;
}

beforeAll(async () => {
  // A report about orphans reads the objects of all namespaces. Those of other tests have ids of another seed.
  world = await landscape({ simulator: ["--seed", "18"] });
  const { namespace: home } = world;
  const { kubectl, kubeconfig } = cluster();
  await world.apply(datacenter("dc"), server("fine"), volume("data", { attachTo: { serverRef: { name: "nobody" } } }));
  await kubectl(["-n", home, "create", "serviceaccount", "tools"]);
  const rights = toolsRights(kinds, { namespace: home, account: "tools", name: `tools-${home}` });
  const input = JSON.stringify({ apiVersion: "v1", kind: "List", items: rights });
  expect(await kubectl(["apply", "-f", "-"], { input })).toMatchObject({ code: 0 });
  const { stdout } = await kubectl(["-n", home, "create", "token", "tools"]);
  const config = parse(readFileSync(kubeconfig, "utf8"));
  for (const each of config.users) each.user = { token: stdout.trim() };
  const own = join(folder.path, "kubeconfig");
  writeFileSync(own, stringify(config));
  const { endpoints } = z
    .object({ spec: z.object({ endpoints: z.record(z.string(), z.string()) }) })
    .parse(await world.get("account/main")).spec;
  client = await connected(own, ["-n", home], {
    MOORING_TOKEN: world.platform.token,
    MOORING_ENDPOINTS: JSON.stringify(endpoints),
    MOORING_REGION: "de/txl",
  });
  await world.untilReady("server/fine");
  await world.untilReason("volume/data", "ReferenceNotFound");
});
afterAll(async () => {
  await client?.close();
  const name = `tools-${world.namespace}`;
  await cluster().kubectl(["delete", "clusterrole,clusterrolebinding", name]);
  folder.remove();
});

describe("the tool server, with the rights that ship", () => {
  it("says why an object is not Ready, down to the cause, and what to do", async () => {
    const answer = await ask("why_not_ready", { kind: "volume", name: "data" });
    expect(answer).toMatchObject({
      ready: false,
      answer: `Server/${world.namespace}/nobody does not exist`,
      what_to_do: `Create Server/${world.namespace}/nobody, or correct the name.`,
      reason: "ReferenceNotFound",
      conditions: expect.arrayContaining([expect.objectContaining({ type: "Ready", status: "False" })]),
    });
    await expect.poll(async () => (await ask("why_not_ready", { kind: "vol", name: "data" }))?.events).not.toEqual([]);
    expect(await ask("why_not_ready", { kind: "srv", name: "fine" })).toMatchObject({
      ready: true,
      what_to_do: "Nothing.",
    });
  });

  it("lists objects and what hangs together", async () => {
    const { namespace } = world;
    const answer = await ask("list_custom_resources", { namespace, not_ready: true });
    expect(answer).toMatchObject({ items: [{ kind: "Volume", name: "data" }], total: 4, ready: 3 });
    expect(await ask("get_dependency_tree", { kind: "dc", name: "dc" })).toMatchObject({
      needed_by: expect.arrayContaining([expect.objectContaining({ object: `Server/${namespace}/fine` })]),
      picture: expect.stringContaining(`Volume/${namespace}/data (datacenterRef) ReferenceNotFound`),
    });
    const object = await ask("get_custom_resource", { kind: "Server", name: "fine" });
    expect(object).toMatchObject({ metadata: { name: "fine" }, status: { id: expect.any(String) } });
    expect(object).not.toHaveProperty("status.internal");
  });

  it("finds resources without an object, and the user of a manual change", async () => {
    const body = { properties: { name: "by-hand", location: "de/txl" } };
    await world.platform.call("POST", "/cloudapi/v6/datacenters", body);
    await expect
      .poll(async () => (await ask("list_orphans"))?.without_object)
      .toContainEqual(expect.objectContaining({ kind: "Datacenter", name: "by-hand" }));
    const { items, not_imported } = z
      .object({
        items: z.array(z.looseObject({ name: z.string(), manifest: z.string() })),
        not_imported: z.array(z.object({ what: z.string(), why: z.string() })),
      })
      .parse(await ask("get_manifests", { kinds: ["Datacenter"] }));
    expect(items.map(({ name }) => name)).toEqual(["by-hand"]);
    expect(items[0]?.manifest).toContain("managementPolicy: Observe");
    expect(not_imported.map(({ why }) => why)).toEqual([`Datacenter/${world.namespace}/dc has it already`]);
    const id = await world.value("server/fine", "{.status.id}");
    const parent = await world.value("datacenter/dc", "{.status.id}");
    await world.platform.call("PATCH", `/cloudapi/v6/datacenters/${parent}/servers/${id}`, { name: "renamed" });
    const activity = await ask("list_object_activity", { kind: "Server", name: "fine" });
    expect(activity).toMatchObject({
      id,
      events: expect.arrayContaining([expect.objectContaining({ user: expect.any(String) })]),
    });
    const changes = z
      .object({ changes: z.array(z.looseObject({ where: z.string() })) })
      .parse(await ask("list_changes"));
    expect(new Set(changes.changes.map(({ where }) => where))).toEqual(new Set(["cluster", "platform"]));
  });

  it("may read no Secret and write nothing, and shows no token", async () => {
    const can = async (verb: string, what: string) => {
      const as = `--as=system:serviceaccount:${world.namespace}:tools`;
      return (await cluster().kubectl(["auth", "can-i", verb, what, as, "-n", world.namespace])).stdout.trim();
    };
    expect(await can("get", "secrets")).toBe("no");
    for (const verb of ["create", "update", "patch", "delete"])
      expect(await can(verb, "servers.mooring.dev")).toBe("no");
    expect(await can("list", "servers.mooring.dev")).toBe("yes");
    expect(results.length).toBeGreaterThan(5);
    expect(results.filter((each) => each.includes(world.platform.token))).toEqual([]);
  });

  it("uses token and endpoints of an Account if the caller may read its Secret", async () => {
    const administrator = await connected(cluster().kubeconfig, ["--account", "main", "-n", world.namespace], {});
    const answer = await ask("list_datacenters", {}, administrator);
    expect(answer).toMatchObject({ items: expect.arrayContaining([expect.objectContaining({ type: "datacenter" })]) });
    await administrator.close();
  });
});
