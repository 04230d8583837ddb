import { allOf, create, each, pathTo, populationOf } from "../population.ts";
import type { Scenario } from "./scenario.ts";

/** What an operator writes to make an object Ready, in about the size in which both write it. */
const writes = [
  { body: { metadata: { finalizers: ["mooring.dev/finalizer"] } } },
  { subresource: "status", body: { status: statusOf("False", "Creating") } },
  { subresource: "status", body: { status: statusOf("True", "Available") } },
] as const;

function statusOf(status: string, reason: string): object {
  const lastTransitionTime = "2026-01-01T00:00:00Z";
  return {
    observedGeneration: 1,
    id: "00000000-0000-0000-0000-000000000000",
    state: "AVAILABLE",
    conditions: [{ type: "Ready", status, reason, message: "written without an operator", lastTransitionTime }],
  };
}

/** The creation and three writes per object straight to the API server, as many at once as there are workers: no operator is faster. */
export const measureFloor: Scenario = async (stage, note) => {
  const { client } = stage;
  await stage.operator.kill();
  const objects = allOf(populationOf(stage.options.objects));
  const shares = stage.shares();
  const began = performance.now();
  await create(client, objects);
  await each(
    objects,
    async (object) => {
      for (const { body, ...where } of writes) {
        const subresource = "subresource" in where ? where.subresource : undefined;
        const contentType = "application/merge-patch+json";
        await client.request({ method: "PATCH", path: pathTo(object, subresource), contentType, body });
      }
    },
    stage.options.workers,
  );
  note("floorSeconds", (performance.now() - began) / 1000);
  const sent = objects.length * (1 + writes.length);
  note("floorWrite", (1000 * (stage.shares().apiserver - shares.apiserver)) / sent);
};
