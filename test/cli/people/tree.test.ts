import { expect, it } from "vitest";
import { pictureOf } from "../../../src/diagnostics/tree.ts";
import { objectOf } from "../../engine/support/fixtures.ts";
import { runWith } from "../scripted-cluster.ts";

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
