import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { z } from "zod";
import { people } from "../../../src/cli/people/commands.ts";
import { topics } from "../../../src/diagnostics/options/topics.ts";
import { temporaryFolder } from "../../../src/simulator/programs/swept.ts";
import { mooring, run as runProgram } from "../../processes.ts";
import { type Landscape, landscape } from "../landscape.ts";
import { datacenter, server, volume } from "../objects.ts";
import { commandLine, HOSTILE } from "./command-line.ts";

/** Every command for people where something is missing: the cluster, rights, the Account or the operator. */

const folder = temporaryFolder("trouble");
const file = join(folder.path, "servers.yaml");
let world: Landscape;
let env: Record<string, string>;
const { run, kubeconfigFor } = commandLine(() => world, folder.path);

beforeAll(async () => {
  world = await landscape({ simulator: ["--seed", "351"], rolesOnly: true, elected: true });
  await world.apply(datacenter("dc"), server("fine"), volume("data", { attachTo: { serverRef: { name: "nobody" } } }));
  const { spec } = z
    .object({ spec: z.object({ endpoints: z.record(z.string(), z.string()) }) })
    .parse(await world.get("account/main"));
  env = { MOORING_ENDPOINTS: JSON.stringify(spec.endpoints) };
  await world.platform.call("POST", "/cloudapi/v6/datacenters", { properties: { name: HOSTILE, location: "de/txl" } });
  writeFileSync(file, [server("fine", { cores: 4 }), server("next")].map((each) => stringify(each)).join("---\n"));
  await world.untilReady("server/fine");
  await world.untilReason("volume/data", "ReferenceNotFound");
}, 180_000);
afterAll(() => folder.remove());

/** A part of what a command prints. */
type Says = string | RegExp;
type Outcome = readonly [code: number | undefined, says: Says];

interface Row {
  line: string;
  /** Without a cluster: no kubeconfig, and then one whose API server does not answer. */
  noCluster: Outcome;
  dead: Outcome;
  noRights: Outcome;
  /** With everything, and then without an operator. */
  fine: Outcome;
}

const absent: Outcome = [1, "no cluster to connect to"];
const dead: Outcome = [1, "connect ECONNREFUSED"];
const forbidden: Outcome = [1, /403 Forbidden: .*User "nobody" cannot get resource "servers"/];
const unlisted = /not checked: servers of namespace \S+: you may not list them/;
const tokenless: Outcome = [1, "MOORING_TOKEN is not set"];
const local = (says: Says, code = 0): Omit<Row, "line"> => {
  const outcome: Outcome = [code, says];
  return { noCluster: outcome, dead: outcome, noRights: outcome, fine: outcome };
};
const aboutOne = { noCluster: absent, dead, noRights: forbidden };
const ofTheCluster = { noCluster: absent, dead, noRights: [0, unlisted] as Outcome };
const ofThePlatform = {
  noCluster: [1, /no cluster to connect to.*set MOORING_TOKEN/] as Outcome,
  dead: [1, /ECONNREFUSED.*set MOORING_TOKEN/] as Outcome,
  noRights: tokenless,
};

const table: readonly Row[] = [
  { line: "why server/fine", ...aboutOne, fine: [0, "is Ready: nothing to do"] },
  { line: "why", ...ofTheCluster, fine: [0, "1 of 4 objects are not Ready; 1 root cause"] },
  { line: "get", ...ofTheCluster, fine: [0, /^Server +fine +Ready/m] },
  { line: "tree", ...ofTheCluster, fine: [0, "├─ Server/fine  Ready"] },
  { line: "tree server/fine", ...aboutOne, fine: [0, "(datacenterRef) Ready"] },
  { line: "wait server/fine --timeout 60s", ...aboutOne, fine: [0, "fine  Ready  Available"] },
  {
    line: "wait -l app=none --timeout 1s",
    ...ofTheCluster,
    noRights: [1, unlisted],
    fine: [1, "no objects with app=none"],
  },
  { line: "reconcile server/fine", ...aboutOne, fine: [0, "fine will be reconciled"] },
  { line: "pause server/fine", ...aboutOne, fine: [0, "fine paused"] },
  { line: "resume server/fine", ...aboutOne, fine: [0, "fine resumed"] },
  { line: "rotate server/fine", ...aboutOne, fine: [1, "has no key, token or certificate"] },
  { line: "drift", ...ofTheCluster, fine: [0, "nothing differs: 2 objects checked"] },
  { line: "cost --by kind", ...ofTheCluster, fine: [0, /^Server +1 +\d+\.\d\d EUR$/m] },
  { line: "expiring --days 3650", ...ofTheCluster, fine: [0, /token of the Account +Account\/\S+\/main/] },
  { line: "orphans", ...ofThePlatform, fine: [0, "a\\e[2J\\e]0;title\\x07\\nb\\u{202e}c"] },
  { line: "options locations", ...ofThePlatform, fine: [0, /^de\/txl +berlin$/m] },
  { line: "import", ...ofThePlatform, fine: [0, "name: a-2j-0-title-b-c"] },
  {
    line: `plan -f ${file}`,
    noCluster: [2, /… wait Server default\/fine[\s\S]*not checked: cluster: no cluster to connect to/],
    dead: [1, "the cluster does not answer"],
    noRights: [1, /\? unknown Server \S+\/fine/],
    fine: [2, /~ change Server [\s\S]*cores: 2 → 4[\s\S]*\+ create Server/],
  },
  {
    line: "doctor",
    noCluster: [3, /fail +kubeconfig: no cluster to connect to.*fix: /],
    dead: [3, /fail +API server: .*ECONNREFUSED.*fix: /],
    noRights: [0, /warn +list objects: you may list no kind.*fix: /],
    fine: [undefined, /ok +Account\/\S+\/main: Ready/],
  },
  { line: "explain NotEmpty", ...local("The resource contains others") },
  { line: "completion bash", ...local("__complete") },
];

it("every command is in the table", () => {
  expect([...new Set(table.map(({ line }) => line.split(" ")[0]))].sort()).toEqual(Object.keys(people).sort());
});

/** The output, which is never a stack trace. Without a code, operators of other tests on the same API server decide about it. */
function check({ code, stdout, stderr }: Awaited<ReturnType<typeof run>>, [expected, says]: Outcome): void {
  const printed = `${stdout}\n${stderr}`;
  expect(printed).toMatch(says);
  if (expected !== undefined) expect(code, printed).toBe(expected);
  expect(printed).not.toMatch(/^\s+at .*:\d+/m);
}

describe.each(table)("mooring $line", ({ line, noCluster, dead: whenDead, noRights, fine }) => {
  it("without a cluster", async () => check(await run(line, { kubeconfig: "" }), noCluster));
  it("with an API server that does not answer", async () =>
    check(await run(line, { kubeconfig: kubeconfigFor(undefined, "https://127.0.0.1:1") }), whenDead));
  it("without rights", async () => check(await run(line, { user: "nobody", env }), noRights));
  it("with all rights, in half a landscape", async () => check(await run(line, { env }), fine));
});

it.each<[string, Says[]]>([
  ["get -o wide", [/ID +ACCOUNT +MESSAGE/, /^Server +fine .* \S+\/main /m]],
  ["tree -o wide", [/Server\/fine {2}Ready {2}\d+[smh]/]],
  [
    "orphans -o wide",
    [/ADOPT +DELETE/, "create an object of kind Datacenter with spec.externalId: ", "DELETE /datacenters/"],
  ],
  ["cost --by owner -o wide", [/^none +2 /m, /^OBJECT +A MONTH$/m, /^Server\/\S+\/fine +\d/m]],
  ["drift -o wide", ["nothing differs: 2 objects checked"]],
  ["expiring --days 3650 -o wide", [/OBJECT +TO DO/, "put another token into Secret token"]],
  ["options -o wide", topics.map((topic) => new RegExp(`^${topic} {2}spec`, "m"))],
  ["options images templates", ["ubuntu:latest", "Basic Cube XS", /A MONTH|PER MONTH|PRICE/]],
])("mooring %s tells more", async (line, says) => {
  const { code, stdout } = await run(line, { env });
  expect(code).toBe(0);
  for (const each of says) expect(stdout).toMatch(each);
});

describe.each([
  ["activity", 0, /^TIME +USER/],
  ["flowlogs --bucket none", 1, /bucket none/],
] as const)("mooring %s of a kubeconfig", (line, code, says) => {
  const read = (path: string, account = "main") =>
    runProgram(mooring, [...line.split(" "), "--account", account, "--kubeconfig", path], {
      env: { PATH: process.env.PATH, HOME: folder.path, MOORING_REGION: "de/txl", ...env },
    });

  it("reads the platform of its Account", async () => {
    const answer = await read(kubeconfigFor(undefined));
    expect(answer.stdout + answer.stderr).toMatch(says);
    expect(answer.code).toBe(code);
  });

  it.each<[string, () => string, string, Says]>([
    ["that does not exist", () => join(folder.path, "none"), "main", /none/],
    ["whose API server does not answer", () => kubeconfigFor(undefined, "https://127.0.0.1:1"), "main", /ECONNREFUSED/],
    ["of a user without rights", () => kubeconfigFor("nobody"), "main", /403 Forbidden/],
    ["with an Account that does not exist", () => kubeconfigFor(undefined), "nobody", /nobody not found/],
  ])("%s says so in one line", async (_, path, account, message) => {
    const { code: failed, stdout, stderr } = await read(path(), account);
    expect({ failed, stdout }).toEqual({ failed: 1, stdout: "" });
    expect(stderr).toMatch(message);
    expect(stderr.trim().split("\n")).toHaveLength(1);
  });
});

describe("without a cluster, but with MOORING_TOKEN", () => {
  it.each([
    ["options locations", /^de\/txl +berlin$/m],
    ["import", /kind: Server[\s\S]*not checked: objects of the cluster: no cluster to connect to/],
    [`plan -f ${file} --offline`, /… wait Server default\/fine[\s\S]*Price: .* EUR a month/],
  ])("mooring %s answers from the platform", async (line, says) => {
    const withToken = { ...env, MOORING_TOKEN: world.platform.token };
    const { stdout, stderr } = await run(line, { kubeconfig: "", env: withToken });
    expect(`${stdout}\n${stderr}`).toMatch(says);
  });
});

describe("with a wrong Account", () => {
  const reads = ["orphans", "cost", "options locations", "import"];
  const answersAnyway = ["why server/fine", "drift", "expiring --days 3650"];

  it("every command with --account is tried", async () => {
    const all = Object.entries(people).map(async ([name, { load }]) =>
      "account" in (await load()).flags ? [name] : [],
    );
    const tried = [...reads, ...answersAnyway, "plan", "doctor"].map((line) => line.split(" ")[0]);
    expect(tried.sort()).toEqual((await Promise.all(all)).flat().sort());
  });

  it("that does not exist, mooring doctor fails and mooring plan wants it offline only", async () => {
    check(await run("doctor --account nobody", { env }), [3, /fail +nobody: there is no such Account.*fix: /]);
    check(await run(`plan -f ${file} --account nobody`, { env }), [1, "--account is for --offline"]);
  });

  it.each(reads)("that does not exist, mooring %s fails and names it", async (line) => {
    const { code, stdout, stderr } = await run(`${line} --account nobody`, { env });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(`Account ${world.namespace}/nobody not found`);
  });

  it.each(answersAnyway)("that does not exist, mooring %s answers from the cluster and names it", async (line) => {
    const { code, stderr } = await run(`${line} --account nobody`, { env });
    expect(code).toBe(0);
    expect(stderr).toMatch(new RegExp(`^not checked: .*Account ${world.namespace}/nobody not found`, "m"));
  });

  it("whose token is wrong, all of them say so", async () => {
    const endpoints = JSON.parse(env.MOORING_ENDPOINTS ?? "");
    const spec = { endpoints, region: "de/txl", credentialsSecretRef: { name: "wrong" } };
    await world.apply(
      { apiVersion: "v1", kind: "Secret", metadata: { name: "wrong" }, stringData: { token: "wrong" } },
      { apiVersion: "mooring.dev/v1alpha1", kind: "Account", metadata: { name: "wrong" }, spec },
    );
    for (const line of reads) check(await run(`${line} --account wrong`, { env }), [1, "answered 401"]);
    for (const line of answersAnyway) check(await run(`${line} --account wrong`, { env }), [0, /not checked: .*401/]);
    const doctor = await run("doctor", { env });
    check(doctor, [3, /fail +Account\/\S+\/wrong on the platform: .*401.*fix: /]);
    await world.kubectl("delete", "account/wrong", "secret/wrong");
  });
});

it("without an operator, every command answers the same", async () => {
  await world.operator.stop();
  for (const { line, fine } of table) {
    if (line === "doctor") check(await run(line, { env }), [3, /fail +leader: no operator runs.*fix: /]);
    else check(await run(line, { env }), fine);
  }
});
