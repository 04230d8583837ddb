import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { kinds } from "../../src/kinds/index.ts";
import { usesAccount } from "../../src/kinds/kind.ts";
import { root } from "../processes.ts";
import { cluster, namespace } from "./harness.ts";
import { badAccounts } from "./manifests/bad-accounts.ts";
import { badChanges } from "./manifests/bad-changes.ts";
import { badDatacenters } from "./manifests/bad-datacenters.ts";
import { badKafka } from "./manifests/bad-kafka.ts";
import { badNetworks } from "./manifests/bad-networks.ts";
import { badPipelineChanges, badPipelines } from "./manifests/bad-pipelines.ts";
import { badScalingGroups } from "./manifests/bad-scaling-groups.ts";
import { badServerParts } from "./manifests/bad-server-parts.ts";
import { badServers } from "./manifests/bad-servers.ts";
import { badVolumes } from "./manifests/bad-volumes.ts";
import { type Base, manifest } from "./manifests/base.ts";
import { fixedFields } from "./manifests/fixed-fields.ts";
import { good, goodChanges } from "./manifests/good.ts";
import { goodKafka, goodKafkaChanges } from "./manifests/good-kafka.ts";
import { goodPipelineChanges, goodPipelines } from "./manifests/good-pipelines.ts";
import { goodResourceChanges, goodResources } from "./manifests/good-resources.ts";
import { kafkaFixedFields } from "./manifests/kafka-fixed-fields.ts";

const { kubectl } = cluster();
let here: string;

beforeAll(async () => {
  const crds = join(root, "crds");
  const installed = await kubectl(["apply", "--server-side", "--force-conflicts", "-f", crds]);
  expect(installed.stderr).toBe("");
  await kubectl(["wait", "--for=condition=Established", "--timeout=60s", "-f", crds]);
  here = await namespace("manifests");
});

interface Named {
  base: Base;
  name: string;
  patch?: unknown;
}

/** Rows with a name for the object of each. */
const named = <R extends object>(rows: R[], prefix: string) =>
  rows.map((row, index) => ({ ...row, name: "name" in row ? String(row.name) : `${prefix}-${index}` }));

/** One `kubectl apply` of all rows, each a document of its own: kubectl goes on after a refusal. */
async function apply(rows: Named[], ...options: string[]): Promise<{ stdout: string[]; stderr: string[] }> {
  const documents = rows.map(({ base, name, patch }) => JSON.stringify(manifest(base, here, name, patch)));
  const args = ["apply", "--validate=strict", ...options, "-f", "-"];
  const { stdout, stderr } = await kubectl(args, { input: documents.join("\n---\n") });
  const lines = (text: string) => text.split("\n").filter((line) => line !== "");
  return { stdout: lines(stdout), stderr: lines(stderr) };
}

/** Objects as they were before a change. */
const unchanged = (rows: Named[]) => rows.map(({ base, name }) => ({ base, name }));

function expectWords(text: string | undefined, words: string[]): void {
  for (const each of words) expect(text).toContain(each);
}

describe("a bad manifest is refused by the API server in words that help", () => {
  const resources = [badServers, badServerParts, badNetworks, badVolumes, badScalingGroups, badPipelines, badKafka];
  const rows = named([badAccounts, badDatacenters, ...resources].flat(), "bad");
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

describe("a change that the platform cannot make is refused with the way out", () => {
  const rows = named([...badChanges, ...badPipelineChanges, ...fixedFields, ...kafkaFixedFields], "change");
  let refusals: string[];
  beforeAll(async () => {
    expect((await apply(unchanged(rows))).stderr).toEqual([]);
    const { stdout, stderr } = await apply(rows);
    expect(stdout).toEqual([]);
    refusals = stderr;
  });

  it.each(rows)("$title", ({ name, says }) => {
    const refusal = refusals.find((line) => line.includes(`"${name}" is invalid`));
    expectWords(refusal, says);
  });

  it.each(kinds.filter(usesAccount))("for every such field of $kind", ({ kind, spec, immutable }) => {
    const said = rows.filter(({ base }) => base.kind === kind).flatMap(({ says }) => says);
    const { properties = {} } = z.toJSONSchema(spec, { io: "input" });
    const untried = Object.keys(immutable).filter((field) => {
      const schema = properties[field];
      // There is nothing that it could be changed to.
      if (typeof schema === "object" && schema.enum?.length === 1) return false;
      return !said.some((each) => each.includes(`${field} cannot be`));
    });
    expect(untried).toEqual([]);
  });
});

describe("a change that the platform cannot make is accepted when the resource may be replaced", () => {
  const rows = named([...fixedFields, ...kafkaFixedFields], "replaced");
  let accepted: string[];
  beforeAll(async () => {
    expect((await apply(unchanged(rows))).stderr).toEqual([]);
    const willing = rows.map((row) => ({ ...row, patch: { ...row.patch, replacePolicy: "WhenNeeded" } }));
    const { stdout, stderr } = await apply(willing, "--dry-run=server");
    expect(stderr).toEqual([]);
    accepted = stdout;
  });

  it.each(rows)("$title", ({ base, name }) => {
    expect(accepted).toContain(`${base.kind.toLowerCase()}.mooring.dev/${name} configured (server dry run)`);
  });
});

describe("a good manifest is accepted", () => {
  const rows = named([...good, ...goodResources, ...goodPipelines, ...goodKafka], "good");
  const changes = named(
    [...goodChanges, ...goodResourceChanges, ...goodPipelineChanges, ...goodKafkaChanges],
    "better",
  );
  let accepted: string[];
  beforeAll(async () => {
    expect((await apply(unchanged(changes))).stderr).toEqual([]);
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
