/** Configuration of agents that ship logs: complete files, so that mounting the Secret is all there is to do. */

const FORWARD_PORT = "9000";

/** Fluent Bit with the forward protocol: one output per stream, each for the records of its tag. */
export function fluentBitForward(tcpAddress: string, key: string, tags: readonly string[]): string {
  const { host, port } = addressOf(tcpAddress, FORWARD_PORT);
  const outputs = tags.map(
    (tag) => `[OUTPUT]
    Name           forward
    Match          ${tag}
    Host           ${host}
    Port           ${port}
    Tls            on
    Shared_Key     ${key}
    Tag            ${tag}
`,
  );
  return service(tags) + outputs.join("\n");
}

/** Fluent Bit with JSON over HTTP. */
export function fluentBitHttp(httpAddress: string, key: string, tags: readonly string[]): string {
  const url = URL.parse(httpAddress.includes("://") ? httpAddress : `https://${httpAddress}`);
  const secure = url?.protocol !== "http:";
  const outputs = tags.map(
    (tag) => `[OUTPUT]
    Name           http
    Match          ${tag}
    Host           ${url?.hostname ?? ""}
    Port           ${url?.port || (secure ? "443" : "80")}
    Uri            ${(url?.pathname ?? "/").replace(/\/+$/, "")}/${tag}
    Format         json
    Header         APIKEY ${key}
    Tls            ${secure ? "on" : "off"}
`,
  );
  return service(tags) + outputs.join("\n");
}

/** What is read is the reader's own business: the files named here are an example. */
const service = (tags: readonly string[]): string => `[SERVICE]
    Flush          5

${tags
  .map(
    (tag) => `[INPUT]
    Name           tail
    Path           /var/log/${tag}/*.log
    Tag            ${tag}

`,
  )
  .join("")}`;

function addressOf(address: string, otherwise: string): { host: string; port: string } {
  const [host = "", port = otherwise] = address.replace(/^[a-z]+:\/\//, "").split(":");
  return { host, port };
}
