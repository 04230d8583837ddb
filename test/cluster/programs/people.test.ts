import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { z } from "zod";
import { temporaryFolder } from "../../../src/simulator/programs/swept.ts";
import { type Landscape, landscape } from "../landscape.ts";
import { datacenter, server, volume } from "../objects.ts";
import { commandLine, HOSTILE } from "./command-line.ts";

const folder = temporaryFolder("people");
let world: Landscape;
let endpoints: Record<string, string>;

const { run } = commandLine(() => world, folder.path);
const mooring = (line: string, { user, env = {} }: { user?: string; env?: Record<string, string> } = {}) =>
  run(line, { ...(user !== undefined && { user }), env: { MOORING_ENDPOINTS: JSON.stringify(endpoints), ...env } });

/** A Server with more cores than it has, and a new one: as a file, and as a kustomization. */
function planned() {
  const overlay = join(folder.path, "overlay");
  mkdirSync(overlay, { recursive: true });
  const path = join(overlay, "servers.yaml");
  writeFileSync(path, [server("fine", { cores: 4 }), server("next")].map((each) => stringify(each)).join("---\n"));
  writeFileSync(join(overlay, "kustomization.yaml"), stringify({ resources: ["servers.yaml"] }));
  return { path, overlay };
}

const json = (text: string): unknown => JSON.parse(text);

beforeAll(async () => {
  // Its own Lease shows that it runs. Killed operators of other tests leave their Leases.
  world = await landscape({ simulator: ["--seed", "35"], rolesOnly: true, elected: true });
  const waiting = { attachTo: { serverRef: { name: "nobody" } } };
  await world.apply(datacenter("dc"), server("fine"), volume("data", waiting), volume("more", waiting));
  endpoints = z
    .object({ spec: z.object({ endpoints: z.record(z.string(), z.string()) }) })
    .parse(await world.get("account/main")).spec.endpoints;
  await world.platform.call("POST", "/cloudapi/v6/datacenters", { properties: { name: HOSTILE, location: "de/txl" } });
  await world.kubectl("create", "rolebinding", "viewer", "--clusterrole=mooring-view", "--user=viewer");
  await world.untilReady("server/fine");
  await world.untilReason("volume/data", "ReferenceNotFound");
  await world.untilReason("volume/more", "ReferenceNotFound");
}, 180_000);
afterAll(() => folder.remove());

describe("a landscape of which half is Ready", { timeout: 120_000 }, () => {
  it("has one root cause, with what to do and who has to act", async () => {
    const { namespace } = world;
    const one = await mooring("why volume/data");
    expect(one).toMatchObject({ code: 0 });
    expect(one.stdout.split("\n").slice(0, 3)).toEqual([
      `Server/${namespace}/nobody does not exist`,
      `to do:  Create Server/${namespace}/nobody, or correct the name.`,
      "acts:   you: a user who may edit the object, or the objects that it refers to",
    ]);
    expect(one.stdout).toContain(`└─ Server/${namespace}/nobody  ReferenceNotFound`);
    const all = json((await mooring("why -o json")).stdout);
    expect(all).toMatchObject({ not_ready: 2, problems: [{ cause: `Server/${namespace}/nobody`, who: "you" }] });
    expect(all).toHaveProperty("problems.0.affected.length", 2);
    expect(await mooring("why --exit-code")).toMatchObject({ code: 3 });
    expect((await mooring("why server/fine --exit-code")).code).toBe(0);
  });

  it("is listed with problems first, and drawn as a tree", async () => {
    const lines = (await mooring("get")).stdout.split("\n");
    expect(lines[0]).toMatch(/^KIND +NAME +STATUS +REASON/);
    expect(lines[1]).toMatch(/^Volume +data +Reconciling +ReferenceNotFound/);
    expect(lines.find((line) => line.startsWith("Server"))).toMatch(/^Server +fine +Ready +Available/);
    const { stdout } = await mooring("tree");
    expect(stdout).toContain("Account/main  Ready\n└─ Datacenter/dc  Ready\n   ├─ Server/fine  Ready\n");
    expect((await mooring("tree datacenter/dc")).stdout).toContain(`Volume/${world.namespace}/data`);
  });

  it("is waited for: Ready, until a timeout, and no longer once something is Stalled", async () => {
    expect(await mooring("wait server/fine datacenter/dc --timeout 60s")).toMatchObject({ code: 0 });
    const late = await mooring("wait volume/data --timeout 1s");
    expect(late).toMatchObject({ code: 4 });
    expect(late.stderr).toContain("not ready after 1s: ReferenceNotFound");
    const file = join(folder.path, "account.yaml");
    const account = {
      apiVersion: "mooring.dev/v1alpha1",
      kind: "Account",
      metadata: { name: "wrong" },
      spec: { endpoints, region: "de/txl", credentialsSecretRef: { name: "nothing" } },
    };
    writeFileSync(file, `${stringify(account)}---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n`);
    await world.apply(account);
    const stalled = await mooring(`wait -f ${file} --timeout 90s`);
    expect(stalled).toMatchObject({ code: 3 });
    const cause = `Account/${world.namespace}/wrong is Stalled: CredentialsMissing`;
    expect(stalled.stderr).toContain(cause);
    await world.apply(datacenter("behind", { accountRef: { name: "wrong" } }));
    const behind = await mooring("wait datacenter/behind --timeout 90s");
    expect(behind).toMatchObject({ code: 3, stderr: expect.stringContaining(cause) });
  });

  it("with two Accounts: one has to be named, and a wrong name is reported", async () => {
    expect((await mooring("options locations")).stderr).toContain("name one with --account: main, wrong");
    expect((await mooring("options locations --account main")).stdout).toMatch(/^de\/txl +berlin$/m);
    expect(await mooring("options locations --account nobody")).toMatchObject({ code: 1 });
    expect((await mooring("options locations --account nobody")).stderr).toContain(
      `Account ${world.namespace}/nobody not found`,
    );
    expect((await mooring("options locations --account wrong")).stderr).toContain("set MOORING_TOKEN");
  });

  it("takes annotations as words", async () => {
    expect((await mooring("pause server/fine")).stdout).toBe(`Server/${world.namespace}/fine paused\n`);
    expect(await world.value("server/fine", "{.metadata.annotations.mooring\\.dev/paused}")).toBe("true");
    await mooring("resume server/fine");
    await mooring("reconcile server/fine");
    const { annotations = {} } = (await world.get("server/fine")).metadata;
    expect(annotations).not.toHaveProperty(["mooring.dev/paused"]);
    expect(annotations).toHaveProperty(["mooring.dev/reconcile-at"]);
    const refused = await mooring("rotate server/fine");
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("has no key, token or certificate") });
  });
});

describe("somebody without rights", { timeout: 120_000 }, () => {
  it("learns what they may not see, and nothing else", async () => {
    const got = await mooring("get", { user: "nobody" });
    expect(got).toMatchObject({ code: 0, stdout: "" });
    expect(got.stderr).toContain(`not checked: servers of namespace ${world.namespace}: you may not list them`);
    const why = await mooring("why volume/data", { user: "nobody" });
    expect(why).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("forbidden") });
    expect(await mooring("pause server/fine", { user: "viewer" })).toMatchObject({ code: 1 });
  });

  it("but to look: gets answers from the cluster, and from the platform with MOORING_TOKEN", async () => {
    const alone = await mooring("why server/fine", { user: "viewer" });
    expect(alone).toMatchObject({ code: 0, stdout: expect.stringContaining("is Ready: nothing to do") });
    expect(alone.stderr).toContain("may not be read: set MOORING_TOKEN");
    const env = { MOORING_TOKEN: world.platform.token };
    const both = await mooring("why server/fine --account main", { user: "viewer", env });
    expect(both.stdout).toContain("Activity on the platform");
  });

  it("learns from a plan what they may not do, and what it cannot tell them", async () => {
    const { path } = planned();
    const nobody = await mooring(`plan -f ${path}`, { user: "nobody" });
    expect(nobody).toMatchObject({ code: 1, stdout: expect.stringContaining("Plan: 2 unknown, 0 unchanged") });
    expect(nobody.stdout).toContain(`? unknown Server ${world.namespace}/fine\n`);
    expect(nobody.stdout).toContain(`not known: you may not read servers in namespace ${world.namespace}`);
    const viewer = await mooring(`plan -f ${path}`, { user: "viewer" });
    expect(viewer).toMatchObject({ code: 2, stdout: expect.stringContaining("cores: 2 → 4") });
    const unread = `not compared with the platform: Account ${world.namespace}/main: Secret token may not be read: set MOORING_TOKEN`;
    expect(viewer.stdout).toContain(unread);
    expect(viewer.stderr).toContain("not checked: clusteraccounts of the cluster: you may not list them");
    expect(viewer.stderr).toContain("checked by the schemas of the CRDs only: you may not patch");
  });

  it("learns from the doctor what is missing", async () => {
    const { checks } = z
      .object({ checks: z.array(z.looseObject({ check: z.string(), status: z.string(), fix: z.string().optional() })) })
      .parse(json((await mooring("doctor -o json", { user: "viewer" })).stdout));
    const named = (check: string) => checks.find((each) => each.check === check);
    expect(named("API server")).toMatchObject({ status: "ok" });
    expect(named("list objects")).toMatchObject({ status: "ok" });
    expect(named("patch objects")).toMatchObject({ status: "warn", fix: expect.stringContaining("reconcile") });
    expect(named("read Secrets")).toMatchObject({ status: "warn", fix: expect.stringContaining("MOORING_TOKEN") });
    expect(checks.filter(({ status, fix }) => status !== "ok" && fix === undefined)).toEqual([]);
  });
});

describe("without an operator", { timeout: 180_000 }, () => {
  it("every question is answered, with GETs alone, and hostile names are shown as escapes", async () => {
    await world.operator.stop();
    await world.platform.resetCalls();
    const main = "--account main";
    const orphans = await mooring(`orphans --exit-code ${main}`);
    expect(orphans).toMatchObject({ code: 3 });
    expect(orphans.stdout).toContain("a\\e[2J\\e]0;title\\x07\\nb\\u{202e}c");
    for (const format of ["json", "yaml"]) {
      const { stdout } = await mooring(`orphans -o ${format} ${main}`);
      const made = expect.objectContaining({ kind: "Datacenter", name: HOSTILE });
      expect(parse(stdout)).toMatchObject({ without_object: expect.arrayContaining([made]) });
    }
    expect((await mooring(`cost --by kind ${main}`)).stdout).toMatch(/^Server +1 +\d+\.\d\d EUR$/m);
    expect((await mooring(`expiring --days 3650 ${main}`)).stdout).toContain(`Account/${world.namespace}/main`);
    expect((await mooring("drift")).stdout).toContain("nothing differs: 2 objects checked");
    expect((await mooring(`options images models templates ${main}`)).stdout).toContain("Basic Cube XS");
    expect((await mooring("get --not-ready")).stdout).toContain("ReferenceNotFound");
    const doctor = await mooring("doctor");
    expect(doctor).toMatchObject({ code: 3 });
    expect(doctor.stdout).toMatch(new RegExp(`fail +Account/${world.namespace}/wrong: CredentialsMissing.*fix: `));
    expect(doctor.stdout).toMatch(/ok +CRDs: all \d+ kinds are served, in the version of this program/);
    const { path, overlay } = planned();
    const plan = await mooring(`plan -f ${path}`);
    expect(plan).toMatchObject({ code: 2, stderr: "" });
    expect(plan.stdout).toMatch(/cores: 2 → 4\n +\d+\.\d\d → \d+\.\d\d EUR a month/);
    // The namespace has two Accounts, and the new Server names none.
    expect(plan.stdout).toContain(`… wait Server ${world.namespace}/next`);
    expect(plan.stdout).toContain("set spec.accountRef.name");
    expect(await mooring(`plan -k ${overlay}`)).toEqual(plan);
    const { byRoute } = await world.platform.calls();
    expect(Object.keys(byRoute).length).toBeGreaterThan(5);
    expect(Object.keys(byRoute).filter((route) => !/^(GET|HEAD) /.test(route))).toEqual([]);
  });
});
