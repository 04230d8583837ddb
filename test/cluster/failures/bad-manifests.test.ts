import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { kinds } from "../../../src/kinds/index.ts";
import { usesAccount } from "../../../src/kinds/kind.ts";
import { root } from "../../processes.ts";
import { subjects } from "../../subjects/index.ts";
import { type Base, patched, someId } from "../../subjects/manifests.ts";
import { cluster, namespace } from "../harness.ts";

const manifests = subjects.map((subject) => subject.manifests);
const { kubectl } = cluster();
let here: string;

beforeAll(async () => {
  const crds = join(root, "crds");
  const installed = await kubectl(["apply", "--server-side", "--force-conflicts", "-f", crds]);
  expect(installed.stderr).toBe("");
  await kubectl(["wait", "--for=condition=Established", "--timeout=60s", "-f", crds]);
  here = await namespace("manifests");
});

const condition = (reason: string) => ({
  type: "Ready",
  status: "False",
  reason,
  message: "differs",
  lastTransitionTime: "2026-03-01T00:00:00Z",
});
const adoptedVolume: Base = { kind: "Volume", spec: { datacenterRef: { name: "berlin" }, externalId: someId } };

interface Named {
  base: Base;
  name: string;
  patch?: unknown;
}

/** The rows, with an object name for each. */
const named = <R extends object>(rows: R[], prefix: string) =>
  rows.map((row, index) => ({ ...row, name: "name" in row ? String(row.name) : `${prefix}-${index}` }));

/** One `kubectl apply` of all rows as separate documents: kubectl continues after a refusal. */
async function apply(rows: Named[], ...options: string[]): Promise<{ stdout: string[]; stderr: string[] }> {
  const documents = rows.map(({ base, name, patch }) => JSON.stringify(patched(base, here, name, patch)));
  const args = ["apply", "--validate=strict", ...options, "-f", "-"];
  const { stdout, stderr } = await kubectl(args, { input: documents.join("\n---\n") });
  const lines = (text: string) => text.split("\n").filter((line) => line !== "");
  return { stdout: lines(stdout), stderr: lines(stderr) };
}

/** Objects as they were before a change. */
const unchanged = (rows: Named[]) => rows.map(({ base, name }) => ({ base, name }));

/** A status as the operator writes it, so that rules about status apply. */
async function say(rows: Named[], status: (base: Base) => object): Promise<void> {
  const documents = rows.map(({ base, name }) =>
    JSON.stringify({ ...patched(base, here, name), status: status(base) }),
  );
  const args = ["replace", "--subresource=status", "-f", "-"];
  const { stderr } = await kubectl(args, { input: documents.join("\n---\n") });
  expect(stderr).toBe("");
}

const progress = { watermark: { time: "2026-03-01T00:00:00.000Z" } };
/** A resource exists, or a creation that cannot be repeated has started. */
const existing = ({ kind }: Base) => (kind === "ActivityLogExport" ? progress : { id: someId });

const worksOnPlatform = ({ base }: Named) => kinds.some((kind) => kind.kind === base.kind && usesAccount(kind));

function expectWords(text: string | undefined, words: string[]): void {
  for (const each of words) expect(text).toContain(each);
}

describe("a bad manifest is refused by the API server in words that help", () => {
  const rows = named(
    manifests.flatMap(({ refused }) => refused),
    "bad",
  );
  let refusals: string[];
  beforeAll(async () => {
    const { stdout, stderr } = await apply(rows);
    expect(stdout).toEqual([]);
    refusals = stderr;
  });

  it("in one line for each document", () => {
    expect(refusals).toHaveLength(rows.length);
  });

  it.each(rows.map((row, index) => ({ ...row, index })))("$title", ({ index, says }) => {
    expect(refusals[index]).toMatch(/^Error from server \((Invalid|BadRequest)\)/);
    expectWords(refusals[index], says);
  });

  it("by server-side apply as well", async () => {
    const { stdout, stderr } = await apply(rows, "--server-side");
    expect(stdout).toEqual([]);
    expect(stderr).toHaveLength(rows.length);
    for (const line of stderr) expect(line).toContain("spec");
  });
});

describe("a change that the platform cannot make", () => {
  const fixed = manifests.flatMap(({ changes }) => changes?.fixed ?? []);
  const rows = named([...manifests.flatMap(({ changes }) => changes?.refused ?? []), ...fixed], "change");
  const replaceable = rows.filter((row) => fixed.some(({ title }) => title === row.title));
  const [corrected, replaced]: [string[], string[]] = [[], []];
  let refusals: string[];
  beforeAll(async () => {
    expect((await apply(unchanged(rows))).stderr).toEqual([]);
    const before = await apply(rows, "--dry-run=server");
    expect(before.stderr).toEqual([]);
    corrected.push(...before.stdout);
    await say(rows, existing);
    const after = await apply(rows);
    expect(after.stdout).toEqual([]);
    refusals = after.stderr;
    const willing = replaceable.map((row) => ({
      ...row,
      patch: { ...Object(row.patch), replacePolicy: "WhenNeeded" },
    }));
    const allowed = await apply(willing, "--dry-run=server");
    expect(allowed.stderr).toEqual([]);
    replaced.push(...allowed.stdout);
  });
  const configured = ({ base, name }: Named) =>
    `${base.kind.toLowerCase()}.mooring.dev/${name} configured (server dry run)`;

  it.each(rows)("is a correction as long as nothing was made: $title", (row) => {
    expect(corrected).toContain(configured(row));
  });

  it.each(rows)("is refused with the way out: $title", ({ name, says }) => {
    const refusal = refusals.find((line) => line.includes(`"${name}" is invalid: spec: `));
    expectWords(refusal, says);
  });

  it.each(replaceable)("is accepted when the resource may be replaced: $title", (row) => {
    expect(replaced).toContain(configured(row));
  });

  it("is taken back together with replacePolicy", async () => {
    const taken = named(
      replaceable.map(({ name: _, patch, ...row }) => ({
        ...row,
        patch: { ...Object(patch), replacePolicy: "WhenNeeded" },
      })),
      "taken",
    );
    expect((await apply(taken)).stderr).toEqual([]);
    await say(taken, existing);
    expect((await apply(unchanged(taken), "--dry-run=server")).stderr).toEqual([]);
  });

  it.each([
    ["of what is only observed", { id: someId, internal: { onlyObserved: true } }],
    ["of what the operator has found to differ from spec", { id: someId, conditions: [condition("Drifted")] }],
    ["after a change while it was being made", { id: someId, conditions: [condition("ImmutableFieldChanged")] }],
  ])("is a correction as well %s", async (_, status) => {
    const chosen = rows.filter(({ base }) => ["Datacenter", "IPBlock"].includes(base.kind));
    await say(chosen, () => status);
    expect((await apply(chosen, "--dry-run=server")).stderr).toEqual([]);
  });

  it("may be told later of a resource that was adopted without it", async () => {
    const [adopted] = named([{ base: adoptedVolume }], "adopted");
    if (!adopted) throw new Error("no row");
    expect((await apply([adopted])).stderr).toEqual([]);
    await say([adopted], () => ({ id: someId, internal: { adoptedAt: "2026-03-01T00:00:00Z" } }));
    const more = { ...adopted, patch: { type: "HDD", licenceType: "LINUX" } };
    expect((await apply([more])).stderr).toEqual([]);
    const other = { ...adopted, patch: { type: "SSD Standard", licenceType: "LINUX" } };
    expect((await apply([other])).stderr.join()).toContain("type cannot be changed");
  });
});

describe("a good manifest is accepted", () => {
  const rows = named(
    manifests.flatMap(({ accepted }) => accepted),
    "good",
  );
  const changes = named(
    manifests.flatMap(({ changes }) => changes?.accepted ?? []),
    "better",
  );
  let accepted: string[];
  beforeAll(async () => {
    expect((await apply(unchanged(changes))).stderr).toEqual([]);
    await say(changes.filter(worksOnPlatform), existing);
    const { stdout, stderr } = await apply([...rows, ...changes], "--dry-run=server");
    expect(stderr).toEqual([]);
    accepted = stdout;
  });

  it.each(rows)("$title", ({ base, name }) => {
    expect(accepted).toContain(`${base.kind.toLowerCase()}.mooring.dev/${name} created (server dry run)`);
  });

  it.each(changes)("$title, later", ({ base, name }) => {
    expect(accepted).toContain(`${base.kind.toLowerCase()}.mooring.dev/${name} configured (server dry run)`);
  });
});

describe("kubectl explain is a manual", () => {
  it.each(kinds)("of $kind, down to the last field", async ({ plural }) => {
    const { code, stdout } = await kubectl(["explain", `${plural}.mooring.dev`, "--recursive"]);
    expect(code).toBe(0);
    expectWords(stdout, ["spec", "status", "conditions", "lastTransitionTime"]);
  });

  it("says of a field what it means and what it allows", async () => {
    const { stdout } = await kubectl(["explain", "server.spec.bootVolume"]);
    expectWords(stdout, ["Size in GB; can only grow", "SSD Premium", "Excludes the other sources", "<string>"]);
    expect(stdout).not.toContain("<no description>");
  });
});
