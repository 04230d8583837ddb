/** Configuration of agents that ship logs: complete files, so that mounting the Secret is all there is to do. */
import { fluentBit, hostPort, webAddress, word } from "../fields/encode.ts";

const FORWARD_PORT = "9000";

/** Fluent Bit with the forward protocol: one output per stream, each for the records of its tag. */
export function fluentBitForward(tcpAddress: string, key: string, tags: readonly string[]): string {
  const { host, port } = addressOf(tcpAddress, FORWARD_PORT);
  const sharedKey = fluentBit("key", key);
  const outputs = tags.map(
    (tag) => `[OUTPUT]
    Name           forward
    Match          ${tag}
    Host           ${host}
    Port           ${port}
    Tls            on
    Shared_Key     ${sharedKey}
    Tag            ${tag}
`,
  );
  return service(tags) + outputs.join("\n");
}

/** Fluent Bit with JSON over HTTP. */
export function fluentBitHttp(httpAddress: string, key: string, tags: readonly string[]): string {
  const scheme = httpAddress === "" || httpAddress.includes("://") ? "" : "https://";
  const url = URL.parse(webAddress("httpAddress", `${scheme}${httpAddress}`));
  const path = fluentBit("httpAddress", url?.pathname ?? "/").replace(/\/+$/, "");
  const secure = url?.protocol !== "http:";
  const outputs = tags.map(
    (tag) => `[OUTPUT]
    Name           http
    Match          ${tag}
    Host           ${fluentBit("httpAddress", url?.hostname ?? "")}
    Port           ${url?.port || (secure ? "443" : "80")}
    Uri            ${path}/${tag}
    Format         json
    Header         APIKEY ${fluentBit("key", key)}
    Tls            ${secure ? "on" : "off"}
`,
  );
  return service(tags) + outputs.join("\n");
}

/** What is read is the reader's own business: the files named here are an example. */
const service = (tags: readonly string[]): string => `[SERVICE]
    Flush          5

${tags
  .map((tag) => word("tag", tag))
  .map(
    (tag) => `[INPUT]
    Name           tail
    Path           /var/log/${tag}/*.log
    Tag            ${tag}

`,
  )
  .join("")}`;

function addressOf(address: string, otherwise: string): { host: string; port: string } {
  if (address === "") return { host: "", port: otherwise };
  const known = hostPort("tcpAddress", address.replace(/^[a-z]+:\/\//, ""));
  const [, host = "", port = otherwise] = /^(\[.*\]|[^:]*)(?::(\d+))?$/.exec(known) ?? [];
  return { host, port };
}
