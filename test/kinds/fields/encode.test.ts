import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import type { SecretData } from "../../../src/kinds/desired.ts";
import { Unwritable } from "../../../src/kinds/fields/secrets/encode.ts";
import { logPipeline } from "../../../src/kinds/observability/log-pipeline.ts";
import { metricPipeline } from "../../../src/kinds/observability/metric-pipeline.ts";
import { kafkaUser } from "../../../src/kinds/streaming/kafka-user.ts";
import { mapped } from "../mapped.ts";

function variable(name: string): string {
  return `\${${name}}`;
}

/** Values of a hostile platform that try to break out of a file. */
const snippets = [
  "\n[INPUT]\n    Name exec\n    Command id\n",
  "\r\n[OUTPUT]\r\n",
  "\n@INCLUDE /etc/passwd\n",
  "@SET a=b",
  variable("HOME"),
  variable("file:/etc/passwd"),
  variable("env:PATH"),
  `$${variable("HOME")}`,
  "$",
  '"',
  "'",
  "\\",
  "\\\n",
  "\u0000",
  "\u0085",
  "\u2028",
  "\u2029",
  "\ufeff",
  "\ud800",
  "\u{1f6a2}",
  "\t",
  " ",
  "#",
  ": ",
  "- x",
  "*",
  "../..",
  "a".repeat(5000),
];
const text = fc.string({ unit: "binary", maxLength: 8 });
const hostile = fc
  .array(fc.oneof(fc.constantFrom(...snippets), text), { minLength: 1, maxLength: 4 })
  .map((parts) => parts.join(""))
  .filter((text) => text !== "");

/** Fluent Bit's classic format as its parser reads it: lines, sections, a key up to the first blank, trimmed values. */
function fluentBitFile(file: string): [section: string, key: string, value: string][] {
  let section = "";
  return file.split("\n").flatMap((raw): [string, string, string][] => {
    const line = raw.replace(/\r$/, "");
    if (line.trim() === "" || line.startsWith("#")) return [];
    if (line.startsWith("@")) return [["@", line, ""]];
    if (line.startsWith("[")) {
      section = line.slice(1, line.indexOf("]"));
      return [];
    }
    const [, key = "", value = ""] = /^[ \t]+(\S+)[ \t]*(.*)$/s.exec(line.split("\0")[0] ?? "") ?? [];
    return [[section, key, value.trim().replace(/\$\{[^}]+\}/g, "<a variable>")]];
  });
}

/** The collector's expansion: $$ means $, and $ with anything else is a variable. */
const expanded = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_, each) =>
      typeof each === "string"
        ? each.replace(/\$\$|\$\{[^}]*\}/g, (found) => (found === "$$" ? "$" : "<a variable>"))
        : each,
    ),
  );

/** A line of Alloy: a quoted text after an equals sign is a value. */
function alloyLine(text: string): unknown {
  const [, name, value] = /^\s*(\S+) *= (".*"),?$/.exec(text) ?? [];
  if (value === undefined) return text;
  const read = value.replace(/\\U([0-9a-f]{8})/g, (_, code) => String.fromCodePoint(Number.parseInt(code, 16)));
  return [name, JSON.parse(read)];
}

/** The values that programs read in the files of a Secret. */
function readFiles(data: SecretData): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(data).map(([name, content]) => {
      const file = String(content);
      if (name.endsWith(".conf")) return [name, fluentBitFile(file)];
      if (name.endsWith(".alloy")) return [name, file.split("\n").map(alloyLine)];
      if (name === "otel-collector.yaml") return [name, expanded(parse(file))];
      return [name, name.endsWith(".yaml") ? parse(file) : file.split("\n")];
    }),
  );
}

type Answer = Readonly<Record<string, string>>;
const NORMAL = "harmless";

const published = (kind: typeof logPipeline, spec: object, item: unknown, key: string): SecretData =>
  mapped(kind)
    .desire(spec)
    .publication({ name: "web" })
    ?.data(item, key, () => "") ?? {};

const kinds: Record<string, { fields: string[]; write(answer: Answer): SecretData }> = {
  LogPipeline: {
    fields: ["tcpAddress", "httpAddress", "grafanaAddress", "tag", "key"],
    write: ({ tag = "app", key = NORMAL, ...addresses }) =>
      published(
        logPipeline,
        { logs: [{ source: "generic", tag: "app", protocol: "tcp" }] },
        {
          id: "lp-1",
          properties: {
            name: "web",
            tcpAddress: "tcp.example.com:9000",
            httpAddress: "https://http.example.com/in",
            logs: ["tcp", "http"].map((protocol) => ({ source: "generic", tag, protocol })),
            ...addresses,
          },
        },
        key,
      ),
  },
  MetricPipeline: {
    fields: ["httpEndpoint", "grafanaEndpoint", "key"],
    write: ({ key = NORMAL, ...addresses }) =>
      published(
        metricPipeline,
        {},
        { id: "mp-1", metadata: { httpEndpoint: "https://push.example.com", ...addresses }, properties: {} },
        key,
      ),
  },
  KafkaUser: {
    fields: ["brokerAddresses"],
    write({ brokerAddresses = "kafka.example.com:9093" }) {
      const access = mapped(kafkaUser).secret?.certificate;
      const home = { id: "c-1", metadata: { brokerAddresses: ["10.0.0.1:9093", brokerAddresses] }, properties: {} };
      const store = new Uint8Array();
      const own = { ca: "", certificate: "", privateKey: "", keystore: store, truststore: store, password: "p" };
      return access?.data([{}, home], own) ?? {};
    },
  },
};
const places = Object.entries(kinds).flatMap(([kind, { fields, write }]) =>
  fields.map((field) => ({ kind, field, write })),
);

/** The document with a value, or its end, replaced by a harmless one. */
const put = (value: unknown, from: string, to: string): unknown =>
  JSON.parse(JSON.stringify(value), (_, each) =>
    each === from || (typeof each === "string" && each.endsWith(` ${from}`))
      ? `${each.slice(0, each.length - from.length)}${to}`
      : each,
  );

describe("text of the platform in the files of a Secret", () => {
  it.each(places)("$kind: $field stays one value, or nothing is written", ({ field, write }) => {
    const sample = field === "tag" || field === "key" ? "harmless1" : "https://host.example.com:1";
    const harmless = field === "tcpAddress" || field === "brokerAddresses" ? "host.example.com:1" : sample;
    let refused = 0;
    fc.assert(
      fc.property(hostile, fc.boolean(), (text, alone) => {
        const given = alone ? text : `${harmless}${text}`;
        let data: SecretData;
        try {
          data = write({ [field]: given });
        } catch (error) {
          if (!(error instanceof Unwritable)) throw error;
          refused++;
          expect(error.message).toContain(field);
          if (text.length > 3) expect(error.message).not.toContain(text);
          return;
        }
        const read = readFiles(data);
        expect(JSON.stringify(read)).not.toContain("<a variable>");
        const normal = readFiles(write({ [field]: harmless }));
        // The same lines and keys: only values differ.
        expect(shape(read)).toEqual(shape(normal));
        if (field === "key") expect(put(read, given, harmless)).toEqual(normal);
      }),
      { numRuns: 200 },
    );
    expect(refused).toBeGreaterThan(0);
  });

  it.each(places)("$kind: $field is refused with a line break in it", ({ field, write }) => {
    for (const bad of ["\n[INPUT]\n    Name exec", "a\rb", "a\u2028b", "a\u0000b", "a".repeat(5000)])
      expect(() => write({ [field]: bad })).toThrow(Unwritable);
  });

  it("a key with dollar signs, quotes and backslashes reaches every agent as it is", () => {
    const key = "a$b$$c\"d\\e'f#g:{h}\u{1f6a2}";
    const files = readFiles(kinds.MetricPipeline?.write({ key }) ?? {});
    const headers = { APIKEY: key };
    expect(files["prometheus.yaml"]).toMatchObject({ remote_write: [{ authorization: { credentials: key } }] });
    expect(files["grafana-agent.yaml"]).toMatchObject({ metrics: { global: { remote_write: [{ headers }] } } });
    expect(files["config.alloy"]).toContainEqual(['"APIKEY"', key]);
    expect(files["otel-collector.yaml"]).toMatchObject({ exporters: { prometheusremotewrite: { headers } } });
    expect(files["fluent-bit.conf"]).toContainEqual(["OUTPUT", "Header", `Authorization Bearer ${key}`]);
  });
});

/** A document without its values: the keys, and the number of lines of a file. */
function shape(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shape);
  if (typeof value !== "object" || value === null) return typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, shape(each)]));
}
