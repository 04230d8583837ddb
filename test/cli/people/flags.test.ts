import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { people } from "../../../src/cli/people/commands.ts";
import { kinds } from "../../../src/kinds/index.ts";
import { hasResource } from "../../../src/kinds/kind.ts";
import type { KubeObject } from "../../../src/kube/resource.ts";
import { temporaryFolder } from "../../../src/simulator/programs/swept.ts";
import { objectOf, readyCondition } from "../../engine/support/fixtures.ts";
import { type Arrived, answer, type ScriptedServer, scriptedServer } from "../../platform/scripted-server.ts";
import { type Platform, startPlatform } from "../../simulator/platform.ts";
import { streams } from "../streams.ts";

/** Every flag that kubectl has too, with every command that has it. */

/** Clears the screen, sets the title, breaks the line, reverses the direction of text and hides a character. */
const HOSTILE = "a\u001b[2J\u001b]0;x\u0007\r\nb\u009b31m\u202ec\u200bd\u2028e";
const steering = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
const ID = "72e73b81-8551-4e74-b398-fc63b39994af";

const folder = temporaryFolder("flags");
const file = join(folder.path, "block.yaml");
let platform: Platform;
let cluster: ScriptedServer;
let other: ScriptedServer;
let objects: KubeObject[] = [];

const PATH = /^\/apis\/mooring\.dev\/v1alpha1\/(?:namespaces\/([^/]+)\/)?([a-z]+)(?:\/([^/?]+))?/;
const SECRET = /^\/api\/v1\/namespaces\/[^/]+\/secrets\/token/;

/** An API server with these objects. It answers a write with the object as it was. */
const apiServer = () =>
  scriptedServer((arrived, response, request) => {
    const reply = (body: object | undefined) => {
      const nothing = { kind: "Status", status: "Failure", code: 404, reason: "NotFound", message: "not found" };
      answer(body ? 200 : 404, body ?? nothing)(arrived, response, request);
    };
    if (arrived.url.startsWith("/version")) return reply({ gitVersion: "v1.36.0" });
    if (SECRET.test(arrived.url)) {
      const data = { token: Buffer.from(platform.ready.token).toString("base64") };
      return reply({ apiVersion: "v1", kind: "Secret", metadata: { name: "token" }, data });
    }
    const [, namespace, plural, name] = PATH.exec(arrived.url) ?? [];
    const kind = kinds.find((each) => each.plural === plural);
    if (!kind) return reply(undefined);
    const items = objects.filter(
      (each) => each.kind === kind.kind && (namespace ?? each.metadata.namespace) === each.metadata.namespace,
    );
    if (name !== undefined) return reply(items.find(({ metadata }) => metadata.name === name));
    return reply({ kind: "List", metadata: { resourceVersion: "1" }, items });
  });

/** A kubeconfig with a context for each server; the first is the current one. */
function kubeconfig(name: string, ...servers: readonly ScriptedServer[]): string {
  const path = join(folder.path, name);
  const entries = servers.map(({ url }, nth) => ({ name: `server-${nth}`, url }));
  const config = {
    clusters: entries.map(({ name, url }) => ({ name, cluster: { server: url } })),
    users: [{ name: "user", user: {} }],
    contexts: entries.map(({ name }) => ({ name, context: { cluster: name, user: "user", namespace: "shop" } })),
    "current-context": "server-0",
  };
  writeFileSync(path, JSON.stringify(config));
  return path;
}

async function run(line: string, env: Record<string, string> = {}) {
  const [name = "", ...argv] = line.split(" ");
  const { written, given } = streams({ HOME: folder.path, MOORING_REGION: "de/txl", ...env });
  const command = await people[name]?.load();
  const from = [cluster.arrived.length, other.arrived.length] as const;
  const code = await command?.run(argv, given);
  const asked = { first: cluster.arrived.slice(from[0]), second: other.arrived.slice(from[1]) };
  return { code, ...written, ...asked };
}

/** Objects of a namespace: an Account, and one of every kind, whatever status says. */
function objectsIn(namespace: string, text: string): KubeObject[] {
  const inside = (kind: string, name: string, spec: object, status: object) =>
    objectOf(kind, name, { metadata: { name, namespace, labels: { app: "shop" } }, spec, status });
  const { endpoints, contractNumber } = platform.ready;
  const account = {
    endpoints,
    region: "de/txl",
    credentialsSecretRef: { name: "token" },
  };
  const expires = new Date(Date.now() + 86_400_000).toISOString();
  return [
    inside("Account", "main", account, { conditions: [readyCondition()], tokenExpiresAt: expires, contractNumber }),
    ...kinds.filter(hasResource).map(({ kind }, nth) =>
      inside(
        kind,
        "web",
        {},
        {
          id: ID.replace(/^../, String(10 + nth)),
          account: `${namespace}/main`,
          state: text,
          conditions: [{ ...readyCondition(nth % 2 === 0 ? "True" : "False"), message: text }],
          key: { expiresAt: expires },
          advice: [text],
        },
      ),
    ),
  ];
}

beforeAll(async () => {
  platform = await startPlatform();
  cluster = await apiServer();
  other = await apiServer();
  const properties = { name: HOSTILE, location: "de/txl" };
  await platform.done("POST", "/datacenters", { properties });
  await platform.done("POST", "/ipblocks", { properties: { ...properties, size: 1 } });
  objects = [...objectsIn("shop", HOSTILE), ...objectsIn("other", HOSTILE)];
  const block = { apiVersion: "mooring.dev/v1alpha1", kind: "IPBlock", metadata: { name: "web" } };
  const spec = { location: "de/txl", size: 1, name: HOSTILE };
  writeFileSync(file, JSON.stringify({ ...block, spec }));
});
afterAll(async () => {
  await platform.close();
  await cluster[Symbol.asyncDispose]();
  await other[Symbol.asyncDispose]();
  folder.remove();
});

/** A call of each command. */
const lines: Record<string, string> = {
  why: "why",
  get: "get",
  tree: "tree",
  wait: "wait server/web --timeout 0s",
  reconcile: "reconcile server/web",
  pause: "pause server/web",
  resume: "resume server/web",
  rotate: "rotate metricpipeline/web",
  drift: "drift",
  orphans: "orphans",
  cost: "cost",
  expiring: "expiring --days 3650",
  options: "options locations",
  plan: `plan -f ${file}`,
  import: "import --kinds Datacenter,IPBlock",
  explain: "explain NotEmpty",
  doctor: "doctor",
  completion: "completion bash",
};
/** Calls that take several objects, where that is another one. */
const several: Record<string, string> = {
  wait: "wait --timeout 0s",
  reconcile: "reconcile",
  pause: "pause",
  resume: "resume",
  rotate: "rotate",
};

const tables = Object.fromEntries(
  await Promise.all(Object.entries(people).map(async ([name, { load }]) => [name, (await load()).flags] as const)),
);
const having = (flag: string) => Object.keys(tables).filter((name) => flag in (tables[name] ?? {}));
const lineOf = (name: string): string => lines[name] ?? "";
const listingOf = (name: string): string => several[name] ?? lineOf(name);

/** The calls for objects of kinds, and for the Secret of an Account. */
const namespacesIn = (arrived: readonly Arrived[]) =>
  new Set(arrived.flatMap(({ url }) => /\/namespaces\/([^/?]+)\//.exec(url)?.[1] ?? []));
/** Lists of kinds with a namespace. */
const listsIn = (arrived: readonly Arrived[]) =>
  arrived.filter(({ url }) => {
    const [, , plural, name] = PATH.exec(url) ?? [];
    const kind = kinds.find((each) => each.plural === plural);
    return kind && hasResource(kind) && name === undefined;
  });

it("every command has a line here", () => {
  expect(Object.keys(lines).sort()).toEqual(Object.keys(people).sort());
});

describe.each(having("kubeconfig"))("mooring %s", (name) => {
  it("reads the cluster of --kubeconfig, or of --context in it", async () => {
    const path = kubeconfig(`two-${name}`, cluster, other);
    const current = await run(`${lineOf(name)} --kubeconfig ${path}`);
    expect(current.first.length).toBeGreaterThan(0);
    expect(current.second).toEqual([]);
    const named = await run(`${lineOf(name)} --kubeconfig ${path} --context server-1`);
    expect(named.second.length).toBeGreaterThan(0);
    expect(named.first).toEqual([]);
    const wrong = await run(`${lineOf(name)} --kubeconfig ${path} --context nowhere`);
    expect([...wrong.first, ...wrong.second]).toEqual([]);
    expect(wrong.stdout + wrong.stderr).toContain("nowhere");
  });

  it("asks for the namespace of -n, else that of the context", async () => {
    const env = { KUBECONFIG: kubeconfig(`one-${name}`, cluster) };
    // Its own Lease and Deployment are where the operator is.
    const own = (arrived: readonly Arrived[]) => namespacesIn(arrived.filter(({ url }) => PATH.test(url)));
    expect(own((await run(lineOf(name), env)).first)).toEqual(new Set(["shop"]));
    expect(own((await run(`${lineOf(name)} -n other`, env)).first)).toEqual(new Set(["other"]));
  });
});

it.each(having("all-namespaces"))("mooring %s -A lists the objects of all namespaces", async (name) => {
  const env = { KUBECONFIG: kubeconfig(`all-${name}`, cluster) };
  const selected = having("selector").includes(name) ? " -l app=shop" : "";
  const { first } = await run(`${listingOf(name)}${selected} -A`, env);
  const lists = name === "doctor" ? first.filter(({ url }) => /\/accounts\?|\/accounts$/.test(url)) : listsIn(first);
  expect(lists.length).toBeGreaterThan(0);
  expect(namespacesIn(lists)).toEqual(new Set());
});

it.each(having("selector"))("mooring %s -l lists only objects with the labels", async (name) => {
  const env = { KUBECONFIG: kubeconfig(`labels-${name}`, cluster) };
  const { first } = await run(`${listingOf(name)}${name === "plan" ? " --prune" : ""} -l app=shop`, env);
  const lists = listsIn(first).filter(({ url }) => url.includes("labelSelector=app%3Dshop"));
  expect(new Set(lists.map(({ url }) => PATH.exec(url)?.[2]))).toEqual(
    new Set(kinds.filter(hasResource).map(({ plural }) => plural)),
  );
});

describe.each(having("output").filter((name) => name !== "import"))("mooring %s", (name) => {
  it.each(tables[name]?.output?.choices ?? [])(
    "-o %s has no text that steers a terminal, and no secret",
    async (format) => {
      const env = { KUBECONFIG: kubeconfig(`output-${name}`, cluster) };
      const { stdout, stderr } = await run(`${lineOf(name)} -o ${format}`, env);
      expect(stdout).not.toBe("");
      expect((stdout + stderr).replaceAll("\n", "")).not.toMatch(steering);
      expect(stdout + stderr).not.toContain(platform.ready.token);
      if (format === "json") expect(() => JSON.parse(stdout)).not.toThrow();
      if (format === "yaml") expect(() => parse(stdout)).not.toThrow();
    },
  );
});

it("mooring import writes hostile text as escapes, into files too", async () => {
  const env = { KUBECONFIG: kubeconfig("import", cluster) };
  const { stdout, stderr } = await run(lineOf("import"), env);
  expect((stdout + stderr).replaceAll("\n", "")).not.toMatch(steering);
  expect(stdout).toContain("kind: IPBlock");
});

it.each(["json", "yaml"])("programs read hostile text from -o %s as it is", async (format) => {
  const env = { KUBECONFIG: kubeconfig(`read-${format}`, cluster) };
  const { stdout } = await run(`get server/web -o ${format}`, env);
  expect(parse(stdout)).toMatchObject({ items: [{ name: "web", message: HOSTILE, state: HOSTILE }] });
});

describe("with an Account that does not exist", () => {
  it.each(having("account").filter((name) => name !== "plan"))("mooring %s names it", async (name) => {
    const env = { KUBECONFIG: kubeconfig(`account-${name}`, cluster) };
    const line = name === "why" ? "why server/web" : lineOf(name);
    const { stdout, stderr } = await run(`${line} --account nobody`, env);
    expect(stdout + stderr).toMatch(
      /Account shop\/nobody not found|nobody: there is no such Account in namespace shop/,
    );
  });

  it("mooring plan waits for it, and creates nothing", async () => {
    const orphan = join(folder.path, "orphan.json");
    const spec = { location: "de/txl", size: 1, accountRef: { name: "nobody" } };
    const block = { apiVersion: "mooring.dev/v1alpha1", kind: "IPBlock", metadata: { name: "new" }, spec };
    writeFileSync(orphan, JSON.stringify(block));
    const env = { KUBECONFIG: kubeconfig("account-plan", cluster) };
    const { code, stdout } = await run(`plan -f ${orphan} -o json`, env);
    const message = "AccountNotFound: Account shop/nobody not found";
    expect({ code, ...JSON.parse(stdout) }).toMatchObject({
      code: 2,
      items: [{ action: "wait", writes: false, message }],
    });
  });
});

describe("mooring doctor", () => {
  it("checks only the Account of --account, with the endpoints of --platform", async () => {
    objects = objects.map((each) => {
      if (each.kind !== "Account") return each;
      const { endpoints: _, ...spec } = Object(each.spec);
      return { ...each, metadata: { ...each.metadata, name: each.metadata.namespace ?? "" }, spec };
    });
    const env = { KUBECONFIG: kubeconfig("doctor", cluster) };
    const checked = async (flags: string) => {
      const { checks } = JSON.parse((await run(`doctor -A -o json ${flags}`, env)).stdout);
      const ofAccounts = checks.filter(({ area }: { area: string }) => area === "account");
      return ofAccounts.map(({ check, message }: { check: string; message: string }) => `${check}: ${message}`);
    };
    const all = await checked("");
    for (const name of ["Account/shop/shop", "Account/other/other"])
      expect(all).toContainEqual(expect.stringMatching(`^${name} on the platform: not checked: .*endpoint`));
    const one = await checked("--account shop");
    expect(one.filter((text: string) => !text.startsWith("Account/shop/shop"))).toEqual([]);
    const endpoints = { MOORING_ENDPOINTS: JSON.stringify(platform.ready.endpoints), MOORING_REGION: "de/txl" };
    Object.assign(env, endpoints);
    expect(await checked("--account shop --platform ionos")).toContainEqual(expect.stringMatching(/accepts the token/));
  });
});
