import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import OpenAI from "openai";
import { afterAll, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { z } from "zod";
import { temporaryFolder } from "../../src/simulator/programs/swept.ts";
import { mooring, start } from "../processes.ts";
import { platformForFile } from "../simulator/platform.ts";
import { cluster, namespace } from "./harness.ts";

const folder = temporaryFolder("gateway");
afterAll(() => folder.remove());
const file = (name: string, text: string) => {
  const path = join(folder.path, name);
  writeFileSync(path, text);
  return path;
};

/** A token of a new ServiceAccount, as `kubectl create token` gives it. */
async function tokenOf(place: string, name: string, ...more: string[]): Promise<string> {
  const { kubectl } = cluster();
  await kubectl(["-n", place, "create", "serviceaccount", name]);
  const { stdout, stderr } = await kubectl(["-n", place, "create", "token", name, ...more]);
  expect(stderr).toBe("");
  return stdout.trim();
}

const ready = z.object({ url: z.string() });

it("serves workloads by the tokens of their ServiceAccounts, for its own audience only", async () => {
  const platform = await platformForFile();
  const [home, shop] = [await namespace("gateway"), await namespace("shop")];
  const own = await tokenOf(home, "gateway");
  const { kubeconfig, kubectl } = cluster();
  const subject = `--serviceaccount=${home}:gateway`;
  await kubectl(["create", "clusterrolebinding", home, "--clusterrole=system:auth-delegator", subject]);
  const config = parse(readFileSync(kubeconfig, "utf8"));
  for (const each of config.users) each.user = { token: own };
  const model = "openai/gpt-oss-120b";
  const gateway = start(mooring, [
    "gateway",
    "--json",
    ...["--kubeconfig", file("kubeconfig", stringify(config))],
    ...["--upstream", platform.ready.endpoints.inference],
    ...["--token-file", file("token", platform.ready.token)],
    ...["--access-file", file("accesses.yaml", stringify([{ namespace: shop, models: [model] }]))],
  ]);
  try {
    const { url } = ready.parse(JSON.parse(await gateway.line()));
    const ask = async (apiKey: string) => {
      const client = new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 });
      const { choices } = await client.chat.completions.create({ model, messages: [{ role: "user", content: "Hi" }] });
      return choices[0]?.message.content;
    };
    const token = await tokenOf(shop, "web", "--audience=mooring-gateway");
    expect(await ask(token)).toContain("You wrote: Hi");
    await expect(ask(await tokenOf(shop, "web"))).rejects.toThrow(OpenAI.AuthenticationError);
    await expect(ask(`${token}x`)).rejects.toThrow(OpenAI.AuthenticationError);
    const elsewhere = await tokenOf(home, "other", "--audience=mooring-gateway");
    await expect(ask(elsewhere)).rejects.toThrow("has no InferenceAccess");
    expect(await gateway.stop()).toBe(0);
    for (const secret of [token, own, platform.ready.token]) expect(gateway.output()).not.toContain(secret);
  } finally {
    await kubectl(["delete", "clusterrolebinding", home]);
  }
});
