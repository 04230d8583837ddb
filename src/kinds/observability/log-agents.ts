/** Configuration files of agents that ship logs. They are complete: it is enough to mount the Secret. */
import { fluentBit, hostPort, webAddress, word } from "../fields/secrets/encode.ts";

const FORWARD_PORT = "9000";

/** The fields of a stream that an agent needs. */
export interface AgentStream {
  tag: string;
  source: string;
}

/** Fluent Bit with the forward protocol: one output per stream, for the records with its tag. */
export function fluentBitForward(tcpAddress: string, key: string, streams: readonly AgentStream[]): string {
  const { host, port } = addressOf(tcpAddress, FORWARD_PORT);
  const sharedKey = fluentBit("key", key);
  const outputs = streams.map(
    ({ tag, source }) => `[OUTPUT]
    Name           forward
    Match          ${matched(tag, source)}
    Host           ${host}
    Port           ${port}
    Tls            on
    Shared_Key     ${sharedKey}
    Tag            ${tag}
`,
  );
  return service(streams) + outputs.join("\n");
}

/** Fluent Bit with JSON over HTTP. */
export function fluentBitHttp(httpAddress: string, key: string, streams: readonly AgentStream[]): string {
  const scheme = httpAddress === "" || httpAddress.includes("://") ? "" : "https://";
  const url = URL.parse(webAddress("httpAddress", `${scheme}${httpAddress}`));
  const path = fluentBit("httpAddress", url?.pathname ?? "/").replace(/\/+$/, "");
  const secure = url?.protocol !== "http:";
  const outputs = streams.map(
    ({ tag, source }) => `[OUTPUT]
    Name           http
    Match          ${matched(tag, source)}
    Host           ${fluentBit("httpAddress", url?.hostname ?? "")}
    Port           ${url?.port || (secure ? "443" : "80")}
    Uri            ${path}/${tag}
    Format         json
    Header         APIKEY ${fluentBit("key", key)}
    Tls            ${secure ? "on" : "off"}
`,
  );
  return service(streams) + outputs.join("\n");
}

/** Records of containers have the name of their log file after the tag. It identifies pod and container. */
const matched = (tag: string, source: string): string => (source === "kubernetes" ? `${tag}.*` : tag);

const CONTAINER_PARSERS = "multiline.parser docker, cri";

/** The input of each source. For a generic source the file names are examples, to be replaced by the user. */
function inputOf({ tag, source }: AgentStream): string {
  switch (source) {
    case "kubernetes":
      return `[INPUT]
    Name           tail
    Path           /var/log/containers/*.log
    ${CONTAINER_PARSERS}
    Tag            ${tag}.*

[FILTER]
    Name           kubernetes
    Match          ${tag}.*
    Kube_Tag_Prefix ${tag}.var.log.containers.
    Merge_Log      on
`;
    case "docker":
      return `[INPUT]
    Name           tail
    Path           /var/lib/docker/containers/*/*-json.log
    ${CONTAINER_PARSERS}
    Tag            ${tag}
`;
    case "systemd":
      return `[INPUT]
    Name           systemd
    Read_From_Tail on
    Tag            ${tag}
`;
    default:
      return `[INPUT]
    Name           tail
    Path           /var/log/${tag}/*.log
    Tag            ${tag}
`;
  }
}

const service = (streams: readonly AgentStream[]): string => `[SERVICE]
    Flush          5

${streams.map(({ tag, source }) => `${inputOf({ tag: word("tag", tag), source })}\n`).join("")}`;

function addressOf(address: string, otherwise: string): { host: string; port: string } {
  if (address === "") return { host: "", port: otherwise };
  const checked = hostPort("tcpAddress", address.replace(/^[a-z]+:\/\//, ""));
  const [, host = "", port = otherwise] = /^(\[.*\]|[^:]*)(?::(\d+))?$/.exec(checked) ?? [];
  return { host, port };
}
