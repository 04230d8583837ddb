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
    [["--endpoint", "apis=https://api.example.com"], {}, '"apis" is none of api, monitoring'],
    [["--endpoint", "api=api.example.com"], {}, "must be an http or https URL"],
    [[], { MOORING_ENDPOINTS: "[]" }, "has to be a JSON object"],
    [[], { MOORING_ENDPOINTS: "{" }, "has to be a JSON object"],
    [[], { MOORING_ENDPOINTS: '{"api": 1}' }, "MOORING_ENDPOINTS: api"],
    [["--allow-endpoint", "example.com"], {}, "is not like https://*.example.com:8443"],
    [["--allow-endpoint", "https://example.com/path"], {}, "is not like"],
  ])("%j %j are refused with the way out", (flags, env, message) => {
    expect(() => configOf(flags, env)).toThrow(message);
  });
});

describe("an endpoint that an Account names", () => {
  const allows = (patterns: string[], url: string, flags: string[] = []) =>
    configOf([...patterns.flatMap((each) => ["--allow-endpoint", each]), ...flags]).isAllowed(url);

  test("is any when the operator says nothing about addresses", () => {
    expect(allows([], "http://anything.test")).toBe(true);
  });

  test("is none when the operator has endpoints of its own and allows no others", () => {
    expect(allows([], "https://api.example.com", ["--endpoint", `api=${API}`])).toBe(false);
  });

  test.each([
    ["https://*.example.com", "https://api.example.com", true],
    ["https://*.example.com", "https://logging.de-txl.example.com/path", true],
    ["https://*.example.com", "https://API.EXAMPLE.COM", true],
    ["https://*.example.com", "https://api.example.com:443", true],
    ["https://*.example.com", "https://api.example.com:8443", false],
    ["https://*.example.com", "http://api.example.com", false],
    ["https://*.example.com", "https://example.com", false],
    ["https://*.example.com", "https://example.com.evil.test", false],
    ["https://*.example.com", "https://evil.test/.example.com", false],
    ["https://*.example.com", "https://evil.test#.example.com", false],
    ["https://*.example.com", "https://a.example.com@evil.test", false],
    ["https://*.example.com", "https://evilxexample.com", false],
    ["http://127.0.0.1:*", "http://127.0.0.1:8080", true],
    ["http://127.0.0.1:*", "http://127.0.0.1", true],
    ["http://127.0.0.1:*", "http://127.0.0.11:8080", false],
    ["http://[::1]:*", "http://[::1]:8080/x", true],
    ["https://a.test:8443", "https://a.test:8443", true],
    ["https://a.test", "not a url", false],
  ])("with --allow-endpoint %s: %s is allowed: %s", (pattern, url, allowed) => {
    expect(allows([pattern], url)).toBe(allowed);
  });
});
