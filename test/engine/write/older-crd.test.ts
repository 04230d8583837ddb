import { describe, expect, test } from "vitest";
import { EXTERNAL_ID } from "../../../src/engine/state/names.ts";
import { createSignatures } from "../../../src/engine/state/signatures.ts";
import { writeStatus } from "../../../src/engine/write/write.ts";
import { datacenter } from "../../../src/kinds/compute/datacenter.ts";
import type { KubeCall } from "../../../src/kube/client/transport.ts";
import { datacenterSpec, objectOf } from "../support/fixtures.ts";
import { stage } from "../support/stage.ts";

const seal = createSignatures({ keys: () => ["one"] });
const bare = objectOf("Datacenter", "a", { spec: datacenterSpec });
const claim = { id: "d1", parents: {}, account: "shop/main", revision: 2 };
const annotation = seal.mark("Datacenter", bare, EXTERNAL_ID, { ...claim, revision: 7 });
const replayed = objectOf("Datacenter", "a", {
  spec: datacenterSpec,
  metadata: { name: "a", annotations: { [EXTERNAL_ID]: annotation } },
});

describe("a status that is not as it was written", () => {
  test("is no sign of an older CRD where an annotation that somebody put there voids it", async () => {
    const { deps, objects, api } = stage([replayed], { seal });
    const object = objects.find("Datacenter/shop/a")?.object ?? replayed;
    await writeStatus(deps, datacenter, object, claim);
    expect(api.get(replayed)?.status).toMatchObject({ id: "d1", internal: { signature: expect.any(String) } });
  });

  test("is a sign of an older CRD where the API server has dropped a field", async () => {
    const { deps, objects } = stage([bare], { seal });
    const object = objects.find("Datacenter/shop/a")?.object ?? bare;
    const client = {
      ...deps.client,
      async request<T>(call: KubeCall): Promise<T> {
        const { status, ...rest } = Object(await deps.client.request(call));
        const { internal: _, ...left } = Object(status);
        return JSON.parse(JSON.stringify({ ...rest, status: left }));
      },
    };
    const writing = writeStatus({ ...deps, client }, datacenter, object, claim);
    await expect(writing).rejects.toThrow("the CRD datacenters.mooring.dev is older than the operator");
  });
});
