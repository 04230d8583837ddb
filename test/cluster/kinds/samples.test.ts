import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { parseAllDocuments, stringify } from "yaml";
import { z } from "zod";
import { root } from "../../processes.ts";
import { cluster, namespace } from "../harness.ts";

const { kubectl } = cluster();

const document = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
});
const files = globSync("deploy/samples/*.yaml", { cwd: root }).sort();
const documents = files.flatMap((file) =>
  parseAllDocuments(readFileSync(join(root, file), "utf8")).map((each) => document.parse(each.toJS())),
);

const version = z.looseObject({
  kind: z.string(),
  metadata: z.looseObject({
    name: z.string(),
    generation: z.int(),
    resourceVersion: z.string(),
    managedFields: z.array(z.looseObject({ manager: z.string() })),
  }),
});

beforeAll(async () => {
  const crds = join(root, "crds");
  expect((await kubectl(["apply", "--server-side", "--force-conflicts", "-f", crds])).stderr).toBe("");
  await kubectl(["wait", "--for=condition=Established", "--timeout=60s", "-f", crds]);
});

describe("the samples", () => {
  it("have no two objects of one name, unless they are the same", () => {
    const named = Map.groupBy(documents, ({ kind, metadata }) => `${kind}/${metadata.name}`);
    const clashes = [...named].filter(([, all]) => new Set(all.map((each) => JSON.stringify(each))).size > 1);
    expect(clashes.map(([name]) => name)).toEqual([]);
  });

  it("can be applied all at once, as they stand", async () => {
    const here = await namespace("samples");
    const args = ["apply", "--namespace", here, "--validate=strict", "-f", join(root, "deploy/samples")];
    const { code, stderr } = await kubectl(args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    // Nothing is reconciled yet, so no column may show a time.
    const { stdout } = await kubectl(["get", "mooring", "--namespace", here, "-o", "wide"]);
    expect(stdout).toContain("Waiting for the operator");
    expect(stdout).not.toMatch(/\b\d+y/);
  });
});

/** One object per kind and name, without those that the API server changes later. */
const ours = [
  ...new Map(
    documents
      .filter(({ apiVersion }) => apiVersion.startsWith("mooring.dev/"))
      .map((each) => [`${each.kind}/${each.metadata.name}`, each]),
  ).values(),
];

const input = ours.map((each) => stringify(each)).join("---\n");

async function write(args: string[], here: string): Promise<string[]> {
  const { code, stdout, stderr } = await kubectl([...args, "--namespace", here, "-f", "-"], { input });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout.trim().split("\n");
}

async function versions(here: string) {
  const args = ["get", "--namespace", here, "--show-managed-fields", "-o", "json", "-f", "-"];
  const { items } = z.object({ items: z.array(version) }).parse(JSON.parse((await kubectl(args, { input })).stdout));
  expect(items.length).toBe(ours.length);
  return items.map(({ kind, metadata: { name, generation, resourceVersion, managedFields } }) => {
    return { kind, name, generation, resourceVersion, managedFields };
  });
}

describe("writing the samples again", () => {
  it.each([
    { way: "kubectl apply", first: ["apply"], again: ["apply"], flags: [] },
    { way: "kubectl replace", first: ["create"], again: ["replace"], flags: [] },
    // Server-side apply takes over the fields of client-side apply without a conflict.
    {
      way: "kubectl apply --server-side",
      first: ["apply"],
      again: ["apply", "--server-side"],
      flags: ["--server-side"],
    },
  ])("by $way changes nothing, and kubectl diff is empty", async ({ first, again, flags }) => {
    const here = await namespace("samples");
    await kubectl(["delete", "clusteraccount", "shared", "--ignore-not-found"]);
    await write(first, here);
    await write(again, here);
    const before = await versions(here);
    const reported = await write(again, here);
    expect(await versions(here)).toEqual(before);
    if (again.join() === "apply") expect(reported.filter((line) => !line.endsWith(" unchanged"))).toEqual([]);
    const diff = await kubectl(["diff", ...flags, "--namespace", here, "-f", "-"], { input });
    expect({ code: diff.code, stdout: diff.stdout }).toEqual({ code: 0, stdout: "" });
  });
});
