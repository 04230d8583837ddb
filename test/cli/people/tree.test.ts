import { expect, it } from "vitest";
import { pictureOf } from "../../../src/diagnostics/tree.ts";
import { objectOf, readyCondition } from "../../engine/support/fixtures.ts";
import { mooring, start } from "../../processes.ts";
import { runWith, withCluster } from "../scripted-cluster.ts";

const forged = "shop/main\n  Server/shop/forged (server) Ready\u202e";
const main = objectOf("Datacenter", "main", { status: { account: forged } });

it.each(["tree", "tree datacenter/main"])("mooring %s prints no line that a status forges", async (line) => {
  const { code, stdout } = await runWith({ datacenters: [main] }, line);
  expect(code).toBe(0);
  expect(stdout).toContain("main\\n  Server/shop/forged");
  expect(stdout).not.toMatch(/^ *Server/m);
  expect(stdout).not.toContain("\u202e");
});

it("the picture for clients of the tools has no forged line either", async () => {
  const { stdout } = await runWith({ datacenters: [main] }, "tree datacenter/main -o json");
  expect(JSON.parse(stdout)).toMatchObject({ needs: [{ object: `Account/${forged}` }] });
  const picture = pictureOf(JSON.parse(stdout));
  expect(picture.split("\n")).toEqual([
    "Datacenter/shop/main",
    "needs:",
    "  Account/shop/main Server/shop/forged (server) Ready (account) ReferenceNotFound",
    "needed by:",
    "  nothing",
  ]);
});

it("mooring tree --watch shows what changes until Ctrl-C", async () => {
  const objects = { datacenters: [objectOf("Datacenter", "main")] };
  await withCluster(objects, async (KUBECONFIG) => {
    const { PATH, HOME } = process.env;
    const watching = start(mooring, ["tree", "--watch"], { env: { PATH, HOME, KUBECONFIG } });
    expect(await watching.line()).toBe("Datacenter/main  Reconciling  Pending");
    objects.datacenters = [objectOf("Datacenter", "main", { status: { conditions: [readyCondition()] } })];
    expect(await watching.line()).toBe("Datacenter/main  Ready");
    watching.signal("SIGINT");
    expect(await watching.ended).toBe(130);
  });
});

it("mooring tree --watch is for people", async () => {
  const refused = { code: 2, stderr: expect.stringContaining("--watch is for people: leave out -o") };
  expect(await runWith({}, "tree --watch -o json")).toMatchObject(refused);
});
