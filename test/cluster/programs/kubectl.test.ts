import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { connect } from "../../../src/kube/client/config.ts";
import { createEventRecorder } from "../../../src/kube/write/events.ts";
import { systemClock } from "../../../src/runtime/clock.ts";
import { subject as scalingGroup } from "../../subjects/kinds/compute/scaling-group.ts";
import { cluster, namespace } from "../harness.ts";

/** Kubernetes clients with the objects of Mooring. No operator runs. */

const { kubectl, kubeconfig } = cluster();
let here: string;
beforeAll(async () => {
  here = await namespace("kubectl");
});

async function create(...documents: object[]): Promise<void> {
  const { stderr } = await kubectl(["apply", "-n", here, "-f", "-"], {
    input: documents.map((each) => JSON.stringify(each)).join("\n---\n"),
  });
  expect(stderr).toBe("");
}

const object = (kind: string, name: string, spec: object) => ({
  apiVersion: "mooring.dev/v1alpha1",
  kind,
  metadata: { name },
  spec,
});

describe("objects are found by what they refer to", () => {
  const at = (name: string) => ({ datacenterRef: { name } });
  const names = async (kind: string, selector: string) => {
    const { stdout } = await kubectl(["get", kind, "-n", here, "--field-selector", selector, "-o", "name"]);
    return stdout.split("\n").filter((line) => line !== "");
  };

  it("the Lans of a Datacenter, and those of an Account", async () => {
    await create(
      object("Lan", "a", at("shop")),
      object("Lan", "b", at("shop")),
      object("Lan", "c", { ...at("other"), accountRef: { name: "main" } }),
    );
    expect(await names("lans", "spec.datacenterRef.name=shop")).toEqual(["lan.mooring.dev/a", "lan.mooring.dev/b"]);
    expect(await names("lans", "spec.datacenterRef.name!=shop")).toEqual(["lan.mooring.dev/c"]);
    expect(await names("lans", "spec.accountRef.name=main")).toEqual(["lan.mooring.dev/c"]);
  });
});

describe("kubectl scale", () => {
  const scale = (replicas: number) => kubectl(["scale", "scalinggroup/web", "-n", here, `--replicas=${replicas}`]);
  const bounds = async () => {
    const path = "{.spec.minReplicas} {.spec.maxReplicas}";
    return (await kubectl(["get", "scalinggroup/web", "-n", here, "-o", `jsonpath=${path}`])).stdout;
  };

  it("sets the least number of replicas, and is refused beyond the most", async () => {
    await create(object("ScalingGroup", "web", { ...scalingGroup.spec, minReplicas: 1, maxReplicas: 4 }));
    expect((await scale(3)).stdout).toBe("scalinggroup.mooring.dev/web scaled\n");
    expect(await bounds()).toBe("3 4");
    expect((await scale(5)).stderr).toContain("maxReplicas must not be less than minReplicas");
    expect((await scale(0)).stderr).toContain("spec.minReplicas");
    expect(await bounds()).toBe("3 4");
  });

  it("shows how many there are", async () => {
    const status = { status: { replicas: 2 } };
    const patched = await kubectl([
      ...["patch", "scalinggroup/web", "-n", here, "--subresource=status", "--type=merge"],
      ...["-p", JSON.stringify(status)],
    ]);
    expect(patched.stderr).toBe("");
    const { stdout } = await kubectl([...["get", "scalinggroup/web", "-n", here, "--subresource=scale", "-o", "json"]]);
    expect(JSON.parse(stdout)).toMatchObject({ kind: "Scale", spec: { replicas: 3 }, status: { replicas: 2 } });
  });
});

/** An Event as generated clients read it: eventTime is required. */
const strictEvent = z.object({
  metadata: z.object({ name: z.string() }),
  eventTime: z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
  reportingController: z.string().min(1),
  reportingInstance: z.string().min(1).max(128),
  action: z.string().min(1),
  reason: z.string().min(1),
  type: z.enum(["Normal", "Warning"]),
  note: z.string(),
});

it("a client that takes the API's description at its word lists the Events, also those that were counted up", async () => {
  const client = await connect({ kubeconfig });
  const errors: unknown[] = [];
  const recorder = createEventRecorder({
    client,
    component: "mooring",
    // The name of a pod may be longer than an Event accepts.
    instance: `mooring-${"x".repeat(200)}`,
    clock: systemClock,
    log: { debug() {}, warn: (fields) => errors.push(Reflect.get(fields, "err")) },
  });
  const regarding = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "told", namespace: here } };
  try {
    recorder.record(regarding, "Normal", "Created", "it is there");
    await recorder.flush();
    recorder.record(regarding, "Normal", "Created", "it is there");
    recorder.record({ ...regarding, metadata: { name: "wide" } }, "Warning", "Rejected", "x".repeat(2000));
  } finally {
    await recorder.close();
  }
  expect(errors).toEqual([]);
  const list = async (where: string) =>
    z
      .object({ items: z.array(z.looseObject({ regarding: z.looseObject({ name: z.string() }) })) })
      .parse(await client.request({ method: "GET", path: `/apis/events.k8s.io/v1/namespaces/${where}/events` }))
      .items.filter((each) => ["told", "wide"].includes(each.regarding.name));
  try {
    const [counted, ...others] = await list(here);
    expect(others).toEqual([]);
    expect(strictEvent.parse(counted)).toMatchObject({ reason: "Created", note: "it is there" });
    expect(counted).toMatchObject({ deprecatedCount: 2 });
    expect((await list("default")).map((each) => strictEvent.parse(each).reason)).toContain("Rejected");
  } finally {
    await client.close();
  }
});
