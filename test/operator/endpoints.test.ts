import { describe, expect, test } from "vitest";
import { readConfig } from "../../src/operator/config.ts";

function configOf(flags: string[], env: Record<string, string> = {}) {
  const config = readConfig(flags, env);
  if (config === "help") throw new Error("the flags ask for help");
  return config;
}
const API = "https://api.example.com";

describe("the operator's endpoints", () => {
  test("come from --endpoint, over MOORING_ENDPOINTS as the simulator prints it", () => {
    const MOORING_ENDPOINTS = JSON.stringify({
      api: "http://127.0.0.1:1",
      logging: "http://127.0.0.1:1/logs/{region}",
    });
    const { endpoints } = configOf(["--endpoint", `api=${API}`, "--endpoint", "dns=https://dns.example.com/a=b"], {
      MOORING_ENDPOINTS,
    });
    expect(endpoints).toEqual({
      api: API,
      logging: "http://127.0.0.1:1/logs/{region}",
      dns: "https://dns.example.com/a=b",
    });
  });

  test.each([
    [["--endpoint", "https://api.example.com"], {}, "is not NAME=URL"],
    [["--endpoint", "apis=https://api.example.com"], {}, '"apis" is unknown; valid: api, monitoring'],
    [["--endpoint", "api=api.example.com"], {}, "must be an http or https URL"],
    [[], { MOORING_ENDPOINTS: "[]" }, "must be a JSON object"],
    [[], { MOORING_ENDPOINTS: "{" }, "must be a JSON object"],
    [[], { MOORING_ENDPOINTS: '{"api": 1}' }, "MOORING_ENDPOINTS: api"],
    [["--allow-endpoint", "example.com"], {}, "is not a pattern for endpoints, such as https://*.example.com"],
    [["--allow-endpoint", "https://example.com/path"], {}, "is not a pattern"],
    [["--ca-file", "nowhere.pem"], {}, "contains no PEM certificate"],
    [[], { HTTPS_PROXY: "proxy.example.com:3128" }, "HTTPS_PROXY must be an http or https URL"],
    [[], { http_proxy: "socks5://proxy.example.com" }, "HTTP_PROXY must be an http or https URL"],
  ])("%j %j are refused with the way out", (flags, env, message) => {
    expect(() => configOf(flags, env)).toThrow(message);
  });
});

test("the proxies to the platform are those that every program knows, in capitals or not", () => {
  const env = { https_proxy: "http://proxy.example.com:3128", HTTP_PROXY: "", NO_PROXY: "10.0.0.0/8" };
  expect(configOf([], env).proxies).toEqual({ https: env.https_proxy, http: undefined, no: "10.0.0.0/8" });
});
