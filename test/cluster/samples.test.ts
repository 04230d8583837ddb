import { globSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { root } from "../processes.ts";
import { cluster, namespace } from "./harness.ts";

const { kubectl } = cluster();
let here: string;

beforeAll(async () => {
  const crds = join(root, "crds");
  expect((await kubectl(["apply", "--server-side", "--force-conflicts", "-f", crds])).stderr).toBe("");
  await kubectl(["wait", "--for=condition=Established", "--timeout=60s", "-f", crds]);
  here = await namespace("samples");
});

describe("a sample can be applied as it stands", () => {
  const files = globSync("deploy/samples/*.yaml", { cwd: root }).sort();

  it.each(files)("%s", async (file) => {
    const args = ["apply", "--namespace", here, "--validate=strict", "--dry-run=server", "-f", join(root, file)];
    const { code, stderr } = await kubectl(args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });

  it("and there are some", () => {
    expect(files.length).toBeGreaterThan(3);
  });
});
