import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readConfig as readGatewayConfig } from "../../src/gateway/config.ts";
import { endpointNames } from "../../src/kinds/identity/account.ts";
import { kinds } from "../../src/kinds/index.ts";
import { readConfig } from "../../src/operator/config.ts";
import { endpointUrl } from "../../src/platform/addresses/endpoints.ts";
import { platforms } from "../../src/platform/addresses/platforms.ts";
import { unsetEndpoints } from "../../src/platform/products/unset-endpoints.ts";
import { temporaryFolder } from "../../src/simulator/programs/swept.ts";
import { mooring, run, start } from "../processes.ts";

function endpointsOf(flags: string[], env: Record<string, string> = {}) {
  const config = readConfig(flags, env);
  if (config === "help") throw new Error("the flags ask for help");
  return config.endpoints;
}

describe("--platform ionos", () => {
  it("sets every endpoint, with hosts of the region for regional products", () => {
    const endpoints = endpointsOf(["--platform", "ionos"]);
    expect(Object.keys(endpoints).sort()).toEqual([...endpointNames].sort());
    expect(endpoints).toEqual(platforms.ionos);
    expect(endpointUrl(endpoints.logging ?? "", "de/fra/2")).toBe("https://logging.de-fra.ionos.com");
  });

  it("is overridden by single endpoints: by flags, and by MOORING_ENDPOINTS", () => {
    const endpoints = endpointsOf(["--platform=ionos", "--endpoint", "dns=https://dns.example.com"], {
      MOORING_ENDPOINTS: '{"dns": "https://other.example.com", "inference": "https://inference.example.com"}',
    });
    expect(endpoints).toEqual({
      ...platforms.ionos,
      dns: "https://dns.example.com",
      inference: "https://inference.example.com",
    });
  });

  it("is the only name there is", () => {
    expect(() => endpointsOf(["--platform", "other"])).toThrow('--platform: "other" is unknown; valid: ionos');
  });
});

describe("mooring operator", () => {
  it("ends with one line when nobody says which platform it is", async () => {
    const env = { ...process.env };
    delete env.MOORING_ENDPOINTS;
    const { code, stderr } = await run(mooring, ["operator"], { env });
    expect(code).toBe(2);
    expect(stderr.trim()).toBe(
      "mooring: no platform is set: start with --platform ionos, or with --endpoint api=URL for a platform with the same interface; with --allow-endpoint PATTERN alone, Accounts name their endpoints themselves",
    );
  });
});

describe("endpoints that kinds need and nobody has set", () => {
  it("are named with these kinds", () => {
    expect(unsetEndpoints(kinds, { api: "https://api.example.com", logging: "https://logging.example.com" })).toEqual([
      { endpoint: "monitoring", kinds: ["MetricPipeline"] },
      { endpoint: "streaming", kinds: ["KafkaCluster", "KafkaTopic", "KafkaUser"] },
      { endpoint: "inference", kinds: ["InferenceAccess"] },
      { endpoint: "objectStorage", kinds: ["ActivityLogExport"] },
    ]);
  });

  it("are told at the start, before anything else is known", async () => {
    const folder = temporaryFolder("start");
    const kubeconfig = join(folder.path, "config");
    const clusters = [{ name: "gone", cluster: { server: "http://127.0.0.1:1" } }];
    const contexts = [{ name: "gone", context: { cluster: "gone", user: "nobody" } }];
    const users = [{ name: "nobody", user: {} }];
    writeFileSync(kubeconfig, JSON.stringify({ clusters, contexts, users, "current-context": "gone" }));
    const flags = ["--kubeconfig", kubeconfig, "--listen", "127.0.0.1:0", "--log-format", "json"];
    const operator = start(mooring, ["operator", "--endpoint", "api=http://127.0.0.1:2", ...flags]);
    const told = () =>
      operator
        .output()
        .split("\n")
        .filter((line) => line.includes("no endpoint is set"));
    await expect.poll(() => told().length).toBe(1);
    expect(JSON.parse(told()[0] ?? "")).toMatchObject({
      level: "warn",
      endpoints: ["monitoring", "logging", "streaming", "inference", "objectStorage"],
      msg: expect.stringContaining("monitoring (MetricPipeline)"),
    });
    operator.signal("SIGKILL");
    await operator.ended;
    await folder.remove();
  });

  it("are none with a platform", () => {
    expect(unsetEndpoints(kinds, platforms.ionos)).toEqual([]);
  });
});

describe("mooring gateway", () => {
  const upstreamOf = (...flags: string[]) => {
    const config = readGatewayConfig(["--account", "shared", "--token-file", "package.json", ...flags], {});
    return config === "help" ? expect.unreachable() : config.upstream;
  };

  it("calls the platform's inference, unless an address is given", () => {
    expect(upstreamOf("--platform", "ionos")).toBe(platforms.ionos.inference);
    expect(upstreamOf("--platform", "ionos", "--upstream", "http://127.0.0.1:1")).toBe("http://127.0.0.1:1");
    expect(() => upstreamOf()).toThrow("--upstream: missing; set it, or --platform ionos");
    expect(() => upstreamOf("--platform", "other")).toThrow('--platform: "other" is unknown; valid: ionos');
  });
});
