import { expect, test } from "vitest";
import { fixedFields } from "../../../../src/engine/observe/spec/fixed-fields.ts";
import type { Subject } from "../../../../src/engine/observe/view.ts";
import { flowLog } from "../../../../src/kinds/network/flow-log.ts";
import { fakePlatform } from "../../support/fake-platform.ts";
import { objectOf } from "../../support/fixtures.ts";
import { stage } from "../../support/stage.ts";

const KEY = "FlowLog/shop/log";
const parents = { datacenter: "dc-1", server: "srv-1", nic: "nic-1" };
const spec = { serverRef: { name: "web" }, nic: "eth0", action: "Any", direction: "Ingress", bucket: "old" };

/** The next step for a FlowLog that has to be replaced, and whose Server is Ready or not. */
async function step(status: "True" | "False") {
  const platform = fakePlatform();
  const path = "/datacenters/dc-1/servers/srv-1/nics/nic-1/flowlogs";
  const wire = { name: "log", action: "ALL", direction: "INGRESS", bucket: "old" };
  const id = platform.make("log", { properties: wire }, { path });
  const fixed = fixedFields(flowLog, { spec } as Subject["object"]);
  const server = objectOf("Server", "web", {
    status: {
      id: "srv-1",
      account: "shop/main",
      parents: { datacenter: "dc-1" },
      nics: [{ id: "nic-1", name: "eth0" }],
      conditions: [{ type: "Ready", status, reason: status === "True" ? "Available" : "Rejected", message: "no" }],
    },
  });
  const log = objectOf("FlowLog", "log", {
    spec: { ...spec, bucket: "new", replacePolicy: "WhenNeeded" },
    status: { id, account: "shop/main", parents, internal: { nonce: "n", fixed } },
  });
  const all = stage([server, log], { platform });
  all.contextOf(KEY);
  await all.clock.advance(0);
  return { decision: (await all.pass(KEY)).decision, calls: platform.calls.map(({ method }) => method) };
}

test("a resource is deleted for its replacement once that can be created", async () => {
  expect((await step("True")).calls).toContain("DELETE");
});

test("it stays as long as the replacement would have to wait for another object", async () => {
  const { decision, calls } = await step("False");
  expect(decision).toMatchObject({ step: "wait", reason: "ReferenceNotReady" });
  expect(calls).not.toContain("DELETE");
});
