import { describe, expect, it } from "vitest";
import { readSettings, type Settings } from "../../src/cli/tools/flags.ts";
import { understood } from "../../src/cli/tools/sources.ts";

function read(argv: string[], env: Record<string, string> = {}): Settings {
  const settings = readSettings(argv, env);
  if (typeof settings === "string") throw new Error(settings);
  return settings;
}

describe("mooring tools", () => {
  it("serves all tools over stdio unless told otherwise", () => {
    expect(read([])).toMatchObject({ transport: "stdio", mode: "eager", warnings: [] });
  });

  it.each<[string[], Record<string, string>, object]>([
    [["--load-mode", "lazy"], { IONOS_MCP_LOAD_MODE: "dynamic" }, { mode: "lazy", summary: /lazy \(--load-mode\)/ }],
    [[], { IONOS_MCP_LOAD_MODE: "DYNAMIC" }, { mode: "dynamic", summary: /dynamic \(IONOS_MCP_LOAD_MODE\)/ }],
    [["--load-mode", "Search"], {}, { mode: "dynamic" }],
    [[], { IONOS_MCP_EAGER_LOAD: "false" }, { mode: "lazy" }],
    [[], { IONOS_MCP_EAGER_LOAD: "true", IONOS_MCP_LOAD_MODE: "lazy" }, { mode: "lazy" }],
    [["--transport", "HTTP"], {}, { transport: "http" }],
    [[], { IONOS_MCP_TRANSPORT: "http" }, { transport: "http" }],
    [["--transport", "stdio"], { IONOS_MCP_TRANSPORT: "http" }, { transport: "stdio" }],
    [["--http-addr", ":9000"], {}, { listen: { host: "127.0.0.1", port: 9000 } }],
    [["--listen", "0.0.0.0:9000"], { IONOS_MCP_HTTP_ADDR: ":1" }, { listen: { host: "0.0.0.0", port: 9000 } }],
    [["--listen", "[::1]:9000"], {}, { listen: { host: "::1", port: 9000 } }],
    [[], { IONOS_MCP_HTTP_ADDR: ":9001" }, { listen: { host: "127.0.0.1", port: 9001 } }],
  ])("reads %j with %j as %j", (argv, env, expected) => {
    const settings = read(argv, env);
    expect(settings.warnings).toEqual([]);
    for (const [name, value] of Object.entries(expected)) {
      const found = Reflect.get(settings, name);
      if (value instanceof RegExp) expect(found).toMatch(value);
      else expect(found).toEqual(value);
    }
  });

  it.each<[string[], Record<string, string>, RegExp]>([
    [
      ["--load-mode", "quick"],
      {},
      /^--load-mode: "quick" is unknown, using eager; valid: eager, lazy, dynamic, search$/,
    ],
    [[], { IONOS_MCP_TRANSPORT: "sse" }, /^IONOS_MCP_TRANSPORT: "sse" is unknown, using stdio/],
    [["--listen", "8080"], {}, /^--listen: "8080" is not HOST:PORT/],
    [[], { IONOS_MCP_TOOL_SCOPE: "read write" }, /only read/],
    [["--platform", "inos"], {}, /^--platform: "inos" is unknown; valid: ionos$/],
  ])("with %j and %j goes on with what is usual, and says so", (argv, env, warning) => {
    const settings = read(argv, env);
    expect(settings).toMatchObject({ mode: "eager", transport: "stdio", listen: { host: "127.0.0.1", port: 8080 } });
    expect(settings.warnings).toEqual([expect.stringMatching(warning)]);
  });
});

describe("the variables of the platform's own clients", () => {
  it("count where ours are not set", () => {
    const env = { IONOS_TOKEN: "theirs", IONOS_API_URL: "https://proxy.example", IONOS_S3_ACCESS_KEY: "a" };
    const { MOORING_TOKEN, MOORING_ENDPOINTS, MOORING_S3_ACCESS_KEY } = understood(env);
    expect([MOORING_TOKEN, MOORING_S3_ACCESS_KEY]).toEqual(["theirs", "a"]);
    expect(JSON.parse(MOORING_ENDPOINTS ?? "")).toMatchObject({
      api: "https://proxy.example",
      dns: "https://proxy.example",
    });
  });

  it("lead to the public platform with a token alone, and nowhere without one", () => {
    const { MOORING_ENDPOINTS } = understood({ IONOS_TOKEN: "theirs" });
    expect(JSON.parse(MOORING_ENDPOINTS ?? "")).toMatchObject({ api: "https://api.ionos.com" });
    expect(understood({}).MOORING_ENDPOINTS).toBeUndefined();
  });

  it("never send our token to their addresses", () => {
    const ours = { MOORING_TOKEN: "ours", MOORING_ENDPOINTS: '{"api":"https://ours.example"}' };
    expect(understood({ ...ours, IONOS_TOKEN: "theirs", IONOS_API_URL: "https://theirs.example" })).toMatchObject(ours);
    expect(understood({ MOORING_TOKEN: "ours", IONOS_TOKEN: "theirs" }).MOORING_ENDPOINTS).toBeUndefined();
  });
});
