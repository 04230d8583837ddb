import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { needsPerson, type Reason, reasons } from "../../src/engine/status/reasons.ts";
import { conditions, paused, type ReadyState } from "../../src/engine/status/status.ts";
import { GROUP, kinds, VERSION } from "../../src/kinds/index.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import { root, run } from "../processes.ts";

const verdict = z.object({ kstatus: z.string(), argo: z.string(), message: z.string() });
type Verdict = z.output<typeof verdict>;

const configMap = z.object({ data: z.object({ "resource.customizations": z.string() }) });
const customizations = z.object({ "mooring.dev/*": z.object({ "health.lua": z.string() }) });

let folder: string;
let program: string;
let script: string;
beforeAll(async () => {
  program = (await promisify(execFile)(join(import.meta.dirname, "setup-gitops"))).stdout.trim();
  folder = await mkdtemp(join(tmpdir(), "mooring-gitops-"));
  const { data } = configMap.parse(parse(await readFile(join(root, "deploy/argocd/argocd-cm.yaml"), "utf8")));
  script = join(folder, "health.lua");
  await writeFile(script, customizations.parse(parse(data["resource.customizations"]))["mooring.dev/*"]["health.lua"]);
});
afterAll(() => rm(folder, { recursive: true }));

/** The health that the tools report for these objects. */
async function judge(objects: readonly object[]): Promise<Verdict[]> {
  const input = objects.map((object) => `${JSON.stringify(object)}\n`).join("");
  const { code, stdout, stderr } = await run(program, [script], { input });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout
    .trim()
    .split("\n")
    .map((line) => verdict.parse(JSON.parse(line)));
}

const fresh = (kind: string): KubeObject => ({
  apiVersion: `${GROUP}/${VERSION}`,
  kind,
  metadata: { name: "a", namespace: "shop", generation: 2 },
});
const objectWith = (kind: string, how: ReadyState, observedGeneration = 2): KubeObject => {
  const object = fresh(kind);
  return { ...object, status: { observedGeneration, conditions: conditions(object, 0, how) } };
};
const each = kinds.map(({ kind }) => kind);
const ready: ReadyState = { mode: "ready", reason: "Available", message: "up to date" };
const all = (expected: Partial<Verdict>) => each.map(() => expect.objectContaining(expected));

describe("the conditions of every kind", () => {
  it("tell that an object is done", async () => {
    const found = await judge(each.map((kind) => objectWith(kind, ready)));
    expect(found).toEqual(all({ kstatus: "Current", argo: "Healthy", message: "Available: up to date" }));
  });

  it("tell for every reason whether to wait or to give up", async () => {
    const states = Object.keys(reasons).filter((reason): reason is Reason => reason in reasons);
    const cases = each.flatMap((kind) => states.map((reason) => ({ kind, reason })));
    const found = await judge(
      cases.map(({ kind, reason }) => {
        const mode = needsPerson(reason) ? "stalled" : "reconciling";
        return objectWith(kind, { mode, reason, message: "why" });
      }),
    );
    expect(found).toEqual(
      cases.map(({ reason }) => ({
        ...(needsPerson(reason)
          ? { kstatus: "Failed", argo: "Degraded" }
          : { kstatus: "InProgress", argo: "Progressing" }),
        message: `${reason}: why`,
      })),
    );
  });

  it("do not report an object as done before it is reconciled, also after an edit", async () => {
    const condition = { type: "Ready", status: "Unknown", reason: "Pending", message: "Waiting for the operator" };
    const pending = each.map((kind) => ({ ...fresh(kind), status: { conditions: [condition] } }));
    const edited = each.map((kind) => objectWith(kind, ready, 1));
    const waiting = { kstatus: "InProgress", argo: "Progressing" };
    expect(await judge([...pending, ...edited])).toEqual([...all(waiting), ...all(waiting)]);
  });

  it("leave a paused object as it was, and Argo CD shows it as suspended", async () => {
    const found = await judge(
      each.map((kind) => {
        const before = objectWith(kind, ready);
        return { ...before, status: { ...Object(before.status), conditions: paused(before, 0) } };
      }),
    );
    expect(found).toEqual(all({ kstatus: "Current", argo: "Suspended" }));
  });
});
