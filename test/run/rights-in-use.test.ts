import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { USER_AGENT } from "../../src/operator/config.ts";
import { reasons, rightsInUse, shippedRights, unused } from "./rights-in-use.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "mooring-rights-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const call = (verb: string, objectRef: object, decision = "allow", userAgent = USER_AGENT) =>
  JSON.stringify({
    verb,
    user: { username: "mooring" },
    requestReceivedTimestamp: "2026-01-01T00:00:00Z",
    objectRef,
    userAgent,
    annotations: { "authorization.k8s.io/decision": decision },
  });
const inLog = (...lines: string[]) => {
  writeFileSync(join(folder, "audit-1"), lines.join("\n"));
  return rightsInUse(folder);
};

describe("the comparison of rights with an audit log", () => {
  it("knows a right with group, part and name", async () => {
    const { calls, used, refused } = await inLog(
      call("patch", { apiGroup: "mooring.dev", resource: "lans", subresource: "status", name: "front" }),
      call("update", { apiGroup: "coordination.k8s.io", resource: "leases", name: "mooring" }),
      call("create", { resource: "events", namespace: "shop" }),
    );
    expect({ calls, refused }).toEqual({ calls: 3, refused: new Map() });
    const rights = ["patch lans/status.mooring.dev", "update leases.coordination.k8s.io mooring", "create events"];
    for (const right of rights) {
      expect(shippedRights()).toContain(right);
      expect(used).toContain(right);
      expect(unused(new Set())).toContain(right);
      expect(unused(used)).not.toContain(right);
    }
  });

  it("names what the operator may not do, and does not mind what others may not", async () => {
    const pods = { resource: "pods" };
    const { refused } = await inLog(call("list", pods, "forbid"), call("delete", pods, "forbid", "a-test"));
    expect(refused).toEqual(new Map([["list pods", "mooring for all, 2026-01-01T00:00:00Z"]]));
  });

  it("has a reason only for rights that ship", () => {
    for (const { rights } of reasons) expect([...shippedRights()].filter((each) => rights.test(each))).not.toEqual([]);
  });
});
