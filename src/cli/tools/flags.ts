import { parseArgs } from "node:util";
import { platformNames } from "../../platform/addresses/platforms.ts";
import { pair } from "../../server/flags.ts";
import type { Pair } from "../../server/serving-certificate.ts";
import { type Mode, modes } from "../../tools/serve/modes.ts";
import { accessFlags, accessUsage } from "../platform-access.ts";

export const options = {
  ...accessFlags,
  "token-file": { type: "string" },
  transport: { type: "string" },
  "load-mode": { type: "string" },
  listen: { type: "string" },
  "http-addr": { type: "string" },
  "bearer-token-file": { type: "string" },
  "tls-cert-file": { type: "string" },
  "tls-key-file": { type: "string" },
  "allow-host": { type: "string", multiple: true },
  "allow-origin": { type: "string", multiple: true },
  json: { type: "boolean", default: false },
  version: { type: "boolean", default: false },
  help: { type: "boolean", short: "h", default: false },
} as const;

export const usage = `usage: mooring tools [OPTION…]

Read-only tools for AI clients and inspectors, over the Model Context Protocol: the contract, and Mooring's objects.

${accessUsage}
                          Instead of MOORING_TOKEN also IONOS_TOKEN, and instead of MOORING_ENDPOINTS also
                          IONOS_API_URL, one address for all products; without both, the public addresses.
  --token-file PATH       the platform's token, read again when it is refused
  --transport NAME        stdio or http (default: IONOS_MCP_TRANSPORT, else stdio)
  --load-mode NAME        eager: all tools at once; lazy: compute and object storage after a call that loads them;
                          dynamic: three tools that find, describe and call the others
                          (default: IONOS_MCP_LOAD_MODE, else eager)
  --listen HOST:PORT      address of http (default: IONOS_MCP_HTTP_ADDR, else 127.0.0.1:8080); without a host
                          the loopback interface
  --http-addr HOST:PORT   the same as --listen
  --bearer-token-file PATH
                          bearer tokens for clients of http, one per line; each token has its own sessions
                          (default: MOORING_TOOLS_BEARER_TOKEN)
  --tls-cert-file PATH    certificate for http, in PEM; read again when it changes (default: none)
  --tls-key-file PATH     private key of --tls-cert-file, in PEM (default: none)
  --allow-host NAME       host name by which clients may call it, besides localhost; repeatable
  --allow-origin URL      web page that may call it, besides those of this machine; repeatable
  --json                  with http: print one JSON line when ready
  --version               print the version
  -h, --help              show this help`;

export interface Settings {
  account: string | undefined;
  namespace: string | undefined;
  platform: string | undefined;
  kubeconfig: string | undefined;
  context: string | undefined;
  tokenFile: string | undefined;
  transport: Transport;
  mode: Mode;
  listen: { host: string; port: number };
  bearerTokenFile: string | undefined;
  tls: Pair | undefined;
  hosts: string[];
  origins: string[];
  json: boolean;
  /** For stderr: values that were not understood. */
  warnings: string[];
  /** For stderr: the effective transport and load mode. */
  summary: string;
}

type Transport = "stdio" | "http";

type Env = Record<string, string | undefined>;

/** Reads settings: flags before environment before defaults. An unknown value counts as the default, with a warning. */
export function readSettings(argv: string[], env: Env = process.env): Settings | "help" | "version" {
  const { values } = parseArgs({ args: argv, options });
  if (values.help) return "help";
  if (values.version) return "version";
  const warnings: string[] = [];

  function chosen<Value extends string>(
    given: [from: string, text: string | undefined][],
    known: Readonly<Record<string, Value>>,
    usual: Value,
  ): { value: Value; from: string } {
    const [from, text] = given.find(([, each]) => each !== undefined && each !== "") ?? ["default", usual];
    const name = (text ?? "").trim().toLowerCase();
    if (Object.hasOwn(known, name)) return { value: known[name] ?? usual, from };
    const valid = Object.keys(known).join(", ");
    warnings.push(`${from}: "${text}" is unknown, using ${usual}; valid: ${valid}`);
    return { value: usual, from: "default" };
  }

  const transport = chosen<Transport>(
    [
      ["--transport", values.transport],
      ["IONOS_MCP_TRANSPORT", env.IONOS_MCP_TRANSPORT],
    ],
    { stdio: "stdio", http: "http" },
    "stdio",
  );
  const named: Record<string, Mode> = { ...Object.fromEntries(modes.map((mode) => [mode, mode])), search: "dynamic" };
  const mode = chosen<Mode>(
    [
      ["--load-mode", values["load-mode"]],
      ["IONOS_MCP_LOAD_MODE", env.IONOS_MCP_LOAD_MODE],
      ["IONOS_MCP_EAGER_LOAD", olderMode(env.IONOS_MCP_EAGER_LOAD)],
    ],
    named,
    "eager",
  );
  const scope = env.IONOS_MCP_TOOL_SCOPE?.trim().toLowerCase();
  if (scope && scope !== "read") warnings.push("IONOS_MCP_TOOL_SCOPE: these tools only read");
  const { platform } = values;
  if (platform !== undefined && !platformNames.some((name) => name === platform))
    warnings.push(`--platform: "${platform}" is unknown; valid: ${platformNames.join(", ")}`);
  const [from, text] = [
    ["--listen", values.listen] as const,
    ["--http-addr", values["http-addr"]] as const,
    ["IONOS_MCP_HTTP_ADDR", env.IONOS_MCP_HTTP_ADDR] as const,
  ].find(([, each]) => each) ?? ["default", undefined];
  const listen = addressIn(text ?? USUAL_ADDRESS);
  if (!listen) warnings.push(`${from}: "${text}" is not HOST:PORT, using ${USUAL_ADDRESS}`);
  return {
    account: values.account,
    namespace: values.namespace,
    platform,
    kubeconfig: values.kubeconfig,
    context: values.context,
    tokenFile: values["token-file"],
    transport: transport.value,
    mode: mode.value,
    listen: listen ?? { host: "127.0.0.1", port: 8080 },
    bearerTokenFile: values["bearer-token-file"],
    tls: pair(values["tls-cert-file"], values["tls-key-file"]),
    hosts: values["allow-host"] ?? [],
    origins: values["allow-origin"] ?? [],
    json: values.json,
    warnings,
    summary: `transport ${transport.value} (${transport.from}), load mode ${mode.value} (${mode.from})`,
  };
}

const USUAL_ADDRESS = "127.0.0.1:8080";

/** Without a host, the address is the loopback interface. Any other interface must be named. */
function addressIn(text: string): Settings["listen"] | undefined {
  const [, host = "", port] = /^(.*):(\d{1,5})$/.exec(text) ?? [];
  if (port === undefined || Number(port) > 65_535) return undefined;
  return { host: host.replace(/^\[(.*)\]$/, "$1") || "127.0.0.1", port: Number(port) };
}

/** The load mode by IONOS_MCP_EAGER_LOAD, an older variable. */
function olderMode(eager: string | undefined): string | undefined {
  if (!eager) return undefined;
  return /^(true|1|yes|on)$/i.test(eager) ? "eager" : "lazy";
}
