import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { plan } from "../../../src/cli/plan/command.ts";
import { documentOf } from "../../../src/plan/document.ts";
import { temporaryFolder } from "../../../src/simulator/programs/swept.ts";
import { root } from "../../processes.ts";
import { streams } from "../streams.ts";

const folder = temporaryFolder("plan");
afterAll(() => folder.remove());
const file = join(folder.path, "datacenter.yaml");
writeFileSync(
  file,
  "{apiVersion: mooring.dev/v1alpha1, kind: Datacenter, metadata: {name: dc}, spec: {location: de/txl}}",
);
const absent = join(folder.path, "absent");

async function run(options: string, env: Record<string, string> = {}) {
  const { written, given } = streams({ HOME: folder.path, ...env });
  return { code: await plan.run(["-f", file, ...options.split(" ").filter(Boolean)], given), ...written };
}

describe("a plan without a cluster", () => {
  it("is made of the files if there is no kubeconfig, and says what was not checked", async () => {
    const { code, stdout, stderr } = await run("");
    expect({ code, stdout }).toEqual({ code: 2, stdout: expect.stringContaining("+ create Datacenter default/dc") });
    expect(stderr).toContain("not checked: cluster: no cluster to connect to");
  });

  it("says in a comment on a pull request what was not checked, with nothing in it that is a link", async () => {
    const { code, stdout } = await run("-o markdown");
    expect(code).toBe(2);
    const [, listed = ""] = stdout.split("**Not checked:**\n\n");
    expect(listed).toMatch(/^- cluster&#58; no cluster to connect to.*\n(- platform through .*\n)?/);
    expect(listed).not.toMatch(/[[\]<>@]/);
  });

  it.each<[string, string, Record<string, string>]>([
    ["KUBECONFIG", "", { KUBECONFIG: absent }],
    ["--context", "--context absent", {}],
    ["--kubeconfig", `--kubeconfig ${absent}`, {}],
  ])("is an error if %s names something that does not exist, unless --offline asks for it", async (_, options, env) => {
    expect(await run(options, env)).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(
        /(absent|no cluster).*; --offline makes a plan of the files and the platform alone\n$/,
      ),
    });
    expect(await run(`--offline ${options}`, env)).toMatchObject({ code: 2 });
  });

  it("takes no --account unless it is offline, because each object has its own in the cluster", async () => {
    expect(await run("--account main")).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining("--account is for --offline: in a cluster, each object has its own Account"),
    });
  });

  it("is an error if the kubeconfig cannot be read", async () => {
    const home = join(folder.path, "home");
    mkdirSync(join(home, ".kube"), { recursive: true });
    writeFileSync(join(home, ".kube", "config"), "clusters: 5");
    expect(await run("", { HOME: home })).toMatchObject({ code: 1, stdout: "" });
  });
});

it("every field of the JSON document is in docs/plan.md, and no other", async () => {
  const page = readFileSync(join(root, "docs/plan.md"), "utf8").split("## The JSON document")[1] ?? "";
  const rows = [...page.matchAll(/^\| (`.*?`) \| (.*) \|$/gm)];
  const wordsIn = (text = "") => [...text.matchAll(/`([\w[\].]+)`/g)].map(([, word = ""]) => word.replace("[]", ""));
  const fields = rows.flatMap(([, cell]) => wordsIn(cell));
  const item = {
    kind: "IPBlock",
    namespace: "shop",
    name: "ips",
    action: "replace",
    writes: true,
    id: "1",
    fields: [{ field: "size", from: "1", to: "2", platform: true }],
    after: [],
    replacement: { fields: ["size"], why: [], loses: "", allowed: false, allowedBy: "replacePolicy: WhenNeeded" },
    message: "no",
  } as const;
  const months = new Map([[item, { before: 1, after: 2 }]]);
  const cost = { before: 1, after: 2, currency: "EUR", basis: "", notPriced: [] };
  const document = documentOf({ items: [item], months, cost, others: [], validatedBy: "server", changes: true });
  const [shown] = document.items;
  const names = [
    ...Object.keys(document).filter((name) => name !== "items"),
    ...Object.keys(shown ?? {}),
    "not_checked",
  ];
  expect(fields.map((field) => field.replace("items.", "").replace("[]", "")).sort()).toEqual(names.sort());
  const inner = [shown?.fields[0], shown?.replacement, shown?.month, document.cost].map((each) =>
    Object.keys(each ?? {}),
  );
  const meanings = ["fields", "replacement", "month", "cost"].map((name) =>
    wordsIn(rows.find(([, cell = ""]) => new RegExp(`\\b${name}\\b`).test(cell))?.[2]),
  );
  for (const [nth, keys] of inner.entries()) expect(meanings[nth]).toEqual(expect.arrayContaining(keys));
});
