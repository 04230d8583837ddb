import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { run } from "../../processes.ts";
import { program } from "../../run/program.ts";
import { cluster } from "../harness.ts";
import { api, type Landscape, landscape } from "../landscape.ts";
import { datacenter, server } from "../objects.ts";

const record = z.object({ interface: z.string(), action: z.enum(["ACCEPT", "REJECT"]), start: z.number() });

let world: Landscape;
let nic: string;

beforeAll(async () => {
  world = await landscape();
  await world.apply(datacenter("dc"), server("watched"), {
    apiVersion: api,
    kind: "FlowLog",
    metadata: { name: "all" },
    spec: {
      serverRef: { name: "watched" },
      nic: "public",
      action: "Any",
      direction: "Bidirectional",
      bucket: "flow-logs",
    },
  });
  await world.untilReady("flowlog/all");
  nic = await world.value("server/watched", '{.status.nics[?(@.name=="public")].id}');
  // Half an hour has three intervals.
  await world.platform.call("POST", "/_simulator/advance", { seconds: 1800 });
  await world.platform.call("POST", "/_simulator/flow-logs");
});

/** The command as users run it, with a kubeconfig and an Account. */
const flowlogs = (...args: string[]) =>
  run(program(), ["flowlogs", "--account", "main", "-n", world.namespace, "--bucket", "flow-logs", ...args], {
    env: { ...process.env, KUBECONFIG: cluster().kubeconfig },
  });

describe("mooring flowlogs, with an Account of the cluster", () => {
  it("shows the traffic that the platform has recorded for a FlowLog", async () => {
    const { code, stdout, stderr } = await flowlogs("-o", "json");
    expect(code, stderr).toBe(0);
    const records = stdout
      .trim()
      .split("\n")
      .map((line) => record.parse(JSON.parse(line)));
    expect(records.length).toBeGreaterThan(0);
    expect(new Set(records.map((each) => each.interface))).toEqual(new Set([nic]));
  });

  it("finds the NICs of a server by its name", async () => {
    const mine = await flowlogs("--server", "watched", "--top", "dstport", "-o", "json");
    expect(JSON.parse(mine.stdout)).toMatchObject({ top: [{ rows: expect.arrayContaining([expect.anything()]) }] });
    expect(mine.stderr).toMatch(/[1-9][0-9]* records/);
    const nobody = await flowlogs("--server", "nobody", "-o", "json");
    expect(nobody.code).not.toBe(0);
    expect(nobody.stderr).toContain("nobody");
  });

  it("prints no key and no token", async () => {
    const { stdout, stderr } = await flowlogs("--top", "srcaddr");
    const { token } = z.object({ data: z.object({ token: z.string() }) }).parse(await world.get("secret/token")).data;
    expect(stdout + stderr).not.toContain(Buffer.from(token, "base64").toString());
    expect(stdout).toContain("SRCADDR");
  });
});
