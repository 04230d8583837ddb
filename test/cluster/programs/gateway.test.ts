import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import OpenAI from "openai";
import { afterAll, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { z } from "zod";
import { gatewayRights } from "../../../src/cli/manifests/gateway-rights.ts";
import { gatewayPolicy } from "../../../src/cli/manifests/policy.ts";
import { temporaryFolder } from "../../../src/simulator/programs/swept.ts";
import { secureFetch } from "../../operator/secure-fetch.ts";
import { mooring, start } from "../../processes.ts";
import { platformForFile } from "../../simulator/platform.ts";
import { cluster, namespace } from "../harness.ts";

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

const ready = z.object({ url: z.string(), metrics: z.string() });
const model = "openai/gpt-oss-120b";
/** Enough for about 360 calls. */
const budget = 0.004;

const shared = (name: string, names: string[], more: object = {}) => ({
  apiVersion: "mooring.dev/v1alpha1",
  kind: "ClusterAccount",
  metadata: { name },
  spec: { credentialsSecretRef: { name: "nowhere" }, namespaces: { names }, ...more },
});
const mayScrape = (namespace: string, account: string) => {
  const [apiVersion, name] = ["rbac.authorization.k8s.io/v1", `${namespace}-scraper`];
  const subjects = [{ kind: "ServiceAccount", name: account, namespace }];
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name };
  const rules = [{ nonResourceURLs: ["/metrics"], verbs: ["get"] }];
  return [
    { apiVersion, kind: "ClusterRole", metadata: { name }, rules },
    { apiVersion, kind: "ClusterRoleBinding", metadata: { name }, roleRef, subjects },
  ];
};
const access = (namespace: string, account: string, more: object = {}) => ({
  apiVersion: "mooring.dev/v1alpha1",
  kind: "InferenceAccess",
  metadata: { name: "chat", namespace },
  spec: { accountRef: { kind: "ClusterAccount", name: account }, models: [model, "openai/gpt-oss-12b"], ...more },
});

it("serves the InferenceAccess objects of its ClusterAccount by tokens of ServiceAccounts, up to their budgets", async () => {
  const platform = await platformForFile();
  await platform.steer("PUT", "limits", { inference: { perSecond: 10_000, burst: 10_000 } });
  const [home, shop, poor] = await Promise.all(["gateway", "shop", "poor"].map((name) => namespace(name)));
  if (home === undefined || shop === undefined || poor === undefined) throw new Error("no namespaces");
  const { kubeconfig, kubectl } = cluster();
  const apply = async (...objects: object[]) => {
    const input = JSON.stringify({ apiVersion: "v1", kind: "List", items: objects });
    expect(await kubectl(["apply", "-f", "-"], { input })).toMatchObject({ code: 0 });
  };
  const own = await tokenOf(home, "gateway");
  const installed = { namespace: home, name: home, account: "gateway" };
  await apply(...gatewayRights(installed), ...gatewayPolicy(installed));
  await apply(
    shared(home, [shop, poor]),
    access(shop, home),
    access(poor, home, { budget: { eurPerDay: budget } }),
    access(home, home),
  );
  const config = parse(readFileSync(kubeconfig, "utf8"));
  for (const each of config.users) each.user = { token: own };
  const gateway = () =>
    start(mooring, [
      ...[
        "gateway",
        "--json",
        "--metrics-auth",
        "--rate",
        "10000",
        "--burst",
        "10000",
        "--account",
        home,
        "--namespace",
        home,
      ],
      ...["--kubeconfig", file("kubeconfig", stringify(config))],
      ...["--upstream", platform.ready.endpoints.inference],
      ...["--token-file", file("token", platform.ready.token)],
    ]);
  try {
    const replicas = [gateway(), gateway()];
    const serving = await Promise.all(replicas.map(async (each) => ready.parse(JSON.parse(await each.line()))));
    const urls = serving.map(({ url }) => url);
    const ask = async (apiKey: string, more: object = {}, url = urls[0]) => {
      const client = new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 });
      const messages = [{ role: "user" as const, content: "Hi" }];
      return client.chat.completions.create({ model, messages, max_completion_tokens: 16, ...more });
    };
    const audience = "--audience=mooring-gateway";
    const token = await tokenOf(shop, "web", audience);
    expect((await ask(token)).choices[0]?.message.content).toContain("You wrote: Hi");
    await expect(ask(await tokenOf(shop, "web"))).rejects.toThrow(OpenAI.AuthenticationError);
    await expect(ask(`${token}x`)).rejects.toThrow(OpenAI.AuthenticationError);
    await expect(ask(token, { model: "openai/gpt-oss-12b" })).rejects.toThrow(`nearest are ${model}`);
    // The ClusterAccount does not admit that namespace.
    await expect(ask(await tokenOf(home, "other", audience))).rejects.toThrow("has no InferenceAccess");

    // The metrics name every namespace, so a reader needs the right.
    const metrics = async (bearer?: string) =>
      secureFetch(serving[0]?.metrics ?? "", bearer === undefined ? {} : { authorization: `Bearer ${bearer}` });
    expect((await metrics()).status).toBe(401);
    expect((await metrics(await tokenOf(shop, "curious"))).status).toBe(403);
    const scraper = await tokenOf(home, "scraper");
    await apply(...mayScrape(home, "scraper"));
    await expect.poll(async () => (await metrics(scraper)).status, { timeout: 60_000 }).toBe(200);

    // Two replicas share one budget, also when one is killed and replaced.
    const poorToken = await tokenOf(poor, "web", audience);
    let spent = 0;
    const spend = async (url: string | undefined, most: number) => {
      for (let nth = 0; nth < most; nth += 1) {
        const { usage } = await ask(poorToken, {}, url);
        spent += ((usage?.prompt_tokens ?? 0) * 0.15 + (usage?.completion_tokens ?? 0) * 0.65) / 1e6;
      }
    };
    await Promise.all(urls.map((url) => spend(url, 10)));
    replicas[1]?.signal("SIGKILL");
    await replicas[1]?.ended;
    const third = gateway();
    const { url } = ready.parse(JSON.parse(await third.line()));
    const ends = await Promise.allSettled([urls[0], url].map((each) => spend(each, 500)));
    expect(ends).toMatchObject(Array(2).fill({ status: "rejected", reason: { code: "insufficient_quota" } }));
    expect(spent).toBeLessThanOrEqual(budget);
    expect(spent).toBeGreaterThanOrEqual(0.95 * budget);

    // The ClusterAccount limits the spending of a namespace, whatever the budgets of its objects are.
    await apply(shared(home, [shop, poor], { inferenceBudget: { eurPerDay: 0 } }));
    await expect.poll(() => ask(token).catch((error) => String(error))).toContain(`budget of namespace ${shop}, 0 EUR`);

    // A namespace that is no longer admitted loses access.
    await apply(shared(home, [poor]));
    await expect.poll(() => ask(token).catch((error) => String(error))).toContain("has no InferenceAccess");
    for (const each of [replicas[0], third]) {
      expect(await each?.stop()).toBe(0);
      for (const secret of [token, own, platform.ready.token]) expect(each?.output()).not.toContain(secret);
    }
  } finally {
    await kubectl(["delete", "clusterrolebinding,clusterrole,clusteraccounts.mooring.dev", home]);
    await kubectl(["delete", "clusterrolebinding,clusterrole", `${home}-scraper`]);
  }
});
