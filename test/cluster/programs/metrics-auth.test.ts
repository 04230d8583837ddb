import { beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { secureFetch } from "../../operator/secure-fetch.ts";
import { until } from "../chaos/wait.ts";
import { cluster, namespace } from "../harness.ts";
import { type Landscape, landscape } from "../landscape.ts";

const serving = z.object({ msg: z.literal("serving metrics and health"), url: z.string() });

let world: Landscape;
let url: string;
let monitoring: string;
beforeAll(async () => {
  world = await landscape({ operator: ["--metrics-auth", "--log-format", "json"] });
  // The log line may come after the line on stdout that reports readiness.
  const reported = () => {
    const lines = world.operator.log().split("\n");
    const whole = lines.filter((line) => line.startsWith("{") && line.endsWith("}"));
    return whole.flatMap((line) => serving.safeParse(JSON.parse(line)).data?.url ?? [])[0];
  };
  await until(() => (reported() === undefined ? "the address is not logged yet" : undefined), { title: "metrics" });
  url = reported() ?? "";
  monitoring = await namespace("monitoring");
});

/** A token of a new ServiceAccount, as `kubectl create token` gives it. */
async function tokenOf(name: string): Promise<string> {
  const { kubectl } = cluster();
  await kubectl(["-n", monitoring, "create", "serviceaccount", name]);
  const { stdout, stderr } = await kubectl(["-n", monitoring, "create", "token", name]);
  expect(stderr).toBe("");
  return stdout.trim();
}

const scrape = async (token?: string) =>
  secureFetch(`${url}/metrics`, token === undefined ? {} : { authorization: `Bearer ${token}` });

it("lets a ServiceAccount with the role that ships read metrics, nobody else, and everybody see health", async () => {
  const [scraper, stranger] = [await tokenOf("prometheus"), await tokenOf("stranger")];
  const { kubectl } = cluster();
  const subject = `--serviceaccount=${monitoring}:prometheus`;
  const bound = await kubectl([
    "create",
    "clusterrolebinding",
    monitoring,
    "--clusterrole=mooring-metrics-reader",
    subject,
  ]);
  expect(bound.stderr).toBe("");
  // The API server learns of a binding a moment after it has stored it.
  const user = `--as=system:serviceaccount:${monitoring}:prometheus`;
  const isAllowed = async () => (await kubectl(["auth", "can-i", "get", "/metrics", user])).stdout.trim();
  await expect.poll(isAllowed).toBe("yes");
  try {
    const { status, text } = await scrape(scraper);
    expect(status).toBe(200);
    expect(text).toContain("workqueue_depth");
    expect(await scrape(stranger)).toMatchObject({ status: 403, text: "Forbidden" });
    expect(await scrape()).toMatchObject({ status: 401, challenge: "Bearer", text: "Unauthorized" });
    expect(await scrape(`${scraper}x`)).toMatchObject({ status: 401 });
    await expect.poll(() => secureFetch(`${url}/readyz`)).toMatchObject({ status: 200, text: "ok" });
  } finally {
    await kubectl(["delete", "clusterrolebinding", monitoring]);
  }
  expect(world.operator.log()).not.toContain(scraper);
});
