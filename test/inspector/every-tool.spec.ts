import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { startCluster } from "../../src/cli/control-plane/start.ts";
import { applyObject, install } from "../../src/cli/demo/install.ts";
import { connect } from "../../src/kube/client/config.ts";
import { table } from "../../src/tools/table/table.ts";
import { root, run } from "../processes.ts";
import { program } from "../run/program.ts";
import { manifest } from "../subjects/surroundings.ts";
import { buildLandscape } from "../tools/landscape.ts";

// Each call starts the inspector and the server, which is too slow for `make test`. A slice is in
// test/clients/mcp.test.ts.
const land = await buildLandscape();
const cluster = await startCluster();
const admin = await connect({ kubeconfig: cluster.kubeconfig });
await install(admin);
await applyObject(admin, { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
for (const { kind, name, spec } of [
  { kind: "Datacenter", name: "prod", spec: { location: "de/fra" } },
  { kind: "Server", name: "web", spec: { datacenterRef: { name: "prod" }, cores: 4, ram: 4096 } },
]) {
  const { metadata, ...object } = manifest(kind, name, spec);
  await applyObject(admin, { ...object, metadata: { ...metadata, namespace: "shop" } });
}
await admin.close();
afterAll(async () => {
  await land.close();
  await cluster.stop();
});

async function inspect(...args: string[]): Promise<unknown> {
  const env = { ...land.env, KUBECONFIG: cluster.kubeconfig };
  const variables = Object.entries(env).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
  const inspector = join(root, "node_modules/.bin/mcp-inspector");
  const server = ["--cli", ...variables, program(), "tools", "-n", "shop"];
  const { code, stdout, stderr } = await run(process.execPath, [inspector, ...server, ...args]);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
}

const list = z.object({ tools: z.array(z.object({ name: z.string() })) });
const result = z.looseObject({
  isError: z.boolean().optional(),
  structuredContent: z.record(z.string(), z.unknown()).optional(),
});

it("lists every tool", async () => {
  const { tools } = list.parse(await inspect("--method", "tools/list"));
  expect(tools.map(({ name }) => name)).toEqual(table.map(({ name }) => name));
});

describe("calls", () => {
  it.concurrent.each(table.map((row) => [row.name, row] as const))("%s", async (name, row) => {
    const given = Object.entries(await land.argumentsFor(row)).flatMap(([key, value]) => [
      "--tool-arg",
      `${key}=${value}`,
    ]);
    const answer = await inspect("--method", "tools/call", "--tool-name", name, ...given);
    const { isError, structuredContent = {} } = result.parse(answer);
    expect(isError, JSON.stringify(answer).slice(0, 500)).toBeUndefined();
    expect(Object.keys(structuredContent)).not.toEqual([]);
  });
});
