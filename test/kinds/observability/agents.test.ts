import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { fluentBitForward, fluentBitHttp } from "../../../src/kinds/observability/log-agents.ts";
import {
  fluentBitMetrics,
  grafanaAgent,
  grafanaAlloy,
  otelCollector,
  prometheus,
} from "../../../src/kinds/observability/metric-agents.ts";

const endpoint = "https://push.example.com/api/v1/push";
const key = "a-key_of.43+letters/and=signs";
const headers = { APIKEY: key };
const push = { endpoint, key, seconds: 30 };

/** Sections and their entries, as Fluent Bit parses its format: the name ends at the first blank. */
function sections(file: string): { section: string; entries: Record<string, string> }[] {
  return file
    .split(/^(?=\[)/m)
    .filter((part) => part.trim() !== "")
    .map((part) => {
      const [head = "", ...lines] = part.trim().split("\n");
      expect(head).toMatch(/^\[[A-Z]+\]$/);
      const entries = lines.map((line) => {
        const [, name = "", value = ""] =
          /^ {4}([A-Za-z_.]+) +(\S.*)$/.exec(line) ?? expect.fail(`not an entry: ${line}`);
        return [name, value];
      });
      return { section: head.slice(1, -1), entries: Object.fromEntries(entries) };
    });
}

const outputs = (file: string) =>
  sections(file)
    .filter(({ section }) => section === "OUTPUT")
    .map(({ entries }) => entries);

describe("configuration of agents for metrics", () => {
  it("Prometheus writes to the endpoint with the key as bearer token", () => {
    expect(parse(prometheus(push))).toMatchObject({
      global: { scrape_interval: "30s" },
      scrape_configs: [{ job_name: "prometheus" }],
      remote_write: [{ url: endpoint, authorization: { type: "Bearer", credentials: key } }],
    });
  });

  it("Grafana Agent does so for everything it scrapes", () => {
    expect(parse(grafanaAgent(push))).toMatchObject({
      metrics: { global: { remote_write: [{ url: endpoint, headers }] }, configs: [{ name: "default" }] },
    });
  });

  it("Grafana Alloy does so with its own metrics", () => {
    const file = grafanaAlloy(push);
    expect(file).toContain(`url     = ${JSON.stringify(endpoint)}`);
    expect(file).toContain(`"APIKEY" = ${JSON.stringify(key)},`);
    expect(file).toContain('scrape_interval = "30s"');
    // Every block that is referenced exists.
    for (const [, type, label] of file.matchAll(/(prometheus\.(?:exporter\.self|remote_write))\.(\w+)\./g)) {
      expect(file).toContain(`${type} "${label}" {`);
    }
  });

  it("OpenTelemetry Collector passes on what it takes as OTLP", () => {
    const { receivers, exporters, processors, service } = parse(otelCollector(push));
    expect(exporters).toEqual({ prometheusremotewrite: { endpoint, headers } });
    const { metrics } = service.pipelines;
    expect(metrics.receivers.filter((name: string) => !(name in receivers))).toEqual([]);
    expect(metrics.processors.filter((name: string) => !(name in processors))).toEqual([]);
    expect(metrics.exporters).toEqual(Object.keys(exporters));
  });

  it.each([
    ["https", endpoint, { Host: "push.example.com", Port: "443", Tls: "on" }],
    ["http and a port", "http://127.0.0.1:8080/in/api/v1/push", { Host: "127.0.0.1", Port: "8080", Tls: "off" }],
  ])("Fluent Bit writes over %s, with the key as bearer token", (_, url, expected) => {
    const [output] = outputs(fluentBitMetrics({ ...push, endpoint: url }));
    expect(output).toMatchObject({ Name: "prometheus_remote_write", ...expected, Uri: new URL(url).pathname });
    expect(output?.Header).toBe(`Authorization Bearer ${key}`);
  });
});

describe("configuration of agents for logs", () => {
  const tags = ["app", "web"];
  const streams = tags.map((tag) => ({ tag, source: "generic" }));

  it("Fluent Bit forwards each stream over TLS with the shared key, to port 9000 unless another is told", () => {
    expect(outputs(fluentBitForward("tcp.example.com", key, streams))).toMatchObject(
      tags.map((tag) => ({
        Name: "forward",
        Match: tag,
        Tag: tag,
        Host: "tcp.example.com",
        Port: "9000",
        Tls: "on",
        Shared_Key: key,
      })),
    );
    const elsewhere = ["127.0.0.1:24224", "tcp://127.0.0.1:24224"].flatMap((at) =>
      outputs(fluentBitForward(at, key, streams.slice(0, 1))),
    );
    expect(elsewhere).toMatchObject([
      { Host: "127.0.0.1", Port: "24224" },
      { Host: "127.0.0.1", Port: "24224" },
    ]);
  });

  it.each([
    ["with https", "https://http.example.com/in", { Host: "http.example.com", Port: "443", Tls: "on" }],
    ["without a scheme", "http.example.com/in", { Host: "http.example.com", Port: "443", Tls: "on" }],
    ["with http and a port", "http://127.0.0.1:8080/in/", { Host: "127.0.0.1", Port: "8080", Tls: "off" }],
  ])("Fluent Bit posts JSON to an address %s, each stream to its own path", (_, address, expected) => {
    expect(outputs(fluentBitHttp(address, key, streams))).toMatchObject(
      tags.map((tag) => ({
        ...expected,
        Name: "http",
        Match: tag,
        Uri: `/in/${tag}`,
        Format: "json",
        Header: `APIKEY ${key}`,
      })),
    );
  });

  it.each([
    ["forward", fluentBitForward("tcp.example.com", key, streams)],
    ["http", fluentBitHttp("https://http.example.com", key, streams)],
  ])("every stream of the file for %s has something to read", (_, file) => {
    const inputs = sections(file).filter(({ section }) => section === "INPUT");
    expect(inputs.map(({ entries }) => entries.Tag)).toEqual(tags);
    expect(sections(file)[0]?.section).toBe("SERVICE");
  });

  it("each source is read where it writes, and reaches the output of its stream", () => {
    const sources = ["kubernetes", "docker", "systemd", "generic"].map((source) => ({ tag: `${source}1`, source }));
    const file = sections(fluentBitForward("tcp.example.com", key, sources));
    const of = (section: string) => file.filter((each) => each.section === section).map(({ entries }) => entries);
    const read = { "multiline.parser": "docker, cri" };
    expect(of("INPUT")).toEqual([
      { Name: "tail", Path: "/var/log/containers/*.log", Tag: "kubernetes1.*", ...read },
      { Name: "tail", Path: "/var/lib/docker/containers/*/*-json.log", Tag: "docker1", ...read },
      { Name: "systemd", Tag: "systemd1", Read_From_Tail: "on" },
      { Name: "tail", Path: "/var/log/generic1/*.log", Tag: "generic1" },
    ]);
    expect(of("FILTER")).toEqual([
      {
        Name: "kubernetes",
        Match: "kubernetes1.*",
        Kube_Tag_Prefix: "kubernetes1.var.log.containers.",
        Merge_Log: "on",
      },
    ]);
    expect(of("OUTPUT").map(({ Match, Tag }) => [Match, Tag])).toEqual([
      ["kubernetes1.*", "kubernetes1"],
      ["docker1", "docker1"],
      ["systemd1", "systemd1"],
      ["generic1", "generic1"],
    ]);
  });

  it("a pipeline without streams of a protocol has a file for it that sends nothing", () => {
    expect(outputs(fluentBitForward("tcp.example.com", key, []))).toEqual([]);
    expect(outputs(fluentBitHttp("https://http.example.com", key, []))).toEqual([]);
  });
});
