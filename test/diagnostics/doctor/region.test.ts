import { expect, test } from "vitest";
import { accountChecks } from "../../../src/diagnostics/doctor/account-checks.ts";
import type { DoctorInput } from "../../../src/diagnostics/doctor/check.ts";
import type { PlatformReader } from "../../../src/diagnostics/reader.ts";
import { endpointUrl } from "../../../src/platform/addresses/endpoints.ts";
import { NotFound, Retry } from "../../../src/platform/answers/errors.ts";

const regional = ["monitoring", "logging", "streaming"];
const failure = { call: "GET /pipelines", status: 404 };
const unresolved = Object.assign(new Error("getaddrinfo ENOTFOUND"), { code: "ENOTFOUND" });

/** The doctor's lines about an Account of this region whose regional products answer so. */
async function linesFor(region: string, error: Error, host = "https://NAME.{region}.example") {
  const platform: PlatformReader = {
    async read({ product = "core" }) {
      if (regional.includes(product)) throw error;
      return { status: 200, headers: {}, body: { items: [] } };
    },
    endpoint: (name) => endpointUrl(host.replace("NAME", name), region),
    has: () => true,
    identity: undefined,
    contractNumber: 1,
    now: () => 0,
    storageKeys: () => Promise.reject(new Error("no keys")),
    storageRegion: undefined,
  };
  const account = { metadata: { namespace: "shop", name: "main" }, spec: { region } };
  const list = async ({ kind }: { kind: string }) => (kind === "Account" ? [account] : []);
  const cluster = { list, namespace: "shop" } as never;
  const input: DoctorInput = {
    sources: {
      cluster: async () => cluster,
      platform: async () => platform,
      now: () => 0,
      signal: new AbortController().signal,
      progress: () => {},
    },
    cluster,
    platformOf: async () => platform,
    namespace: undefined,
    version: undefined,
  };
  return (await accountChecks(input)).filter(({ check }) => check.endsWith("on the platform"));
}

test.each([
  ["a 404 of the platform", new NotFound({ ...failure, platformMessage: "Resource does not exist" })],
  ["a 404 of somebody else", new Retry(failure, "no")],
  ["a host that cannot be resolved", new Retry({ ...failure, status: 0, cause: { cause: unresolved } }, "no")],
])("%s to the list of a regional product fails, with the region to check", async (_, error) => {
  const lines = await linesFor("de/tlx", error);
  const failed = lines.filter(({ status }) => status === "fail");
  expect(failed.map(({ message }) => message.split(":")[0])).toEqual(
    expect.arrayContaining(["MetricPipeline", "LogPipeline", "KafkaCluster"]),
  );
  expect(new Set(failed.map(({ fix }) => fix))).toEqual(new Set(["check spec.region (de/tlx)"]));
  expect(lines.find(({ message }) => message.startsWith("may list"))?.message).not.toContain("MetricPipeline");
});

test("an endpoint that has no region in it says nothing about the region", async () => {
  const lines = await linesFor("de/txl", new NotFound(failure), "https://NAME.example");
  expect(lines.filter(({ fix }) => fix?.includes("region"))).toEqual([]);
  const silent = await linesFor("de/txl", new Retry({ ...failure, status: 503 }, "no"));
  expect(silent.filter(({ fix }) => fix?.includes("region"))).toEqual([]);
});
