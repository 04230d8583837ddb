import { accessToken, type Base, centralLogging, logPipeline, metricPipeline } from "./base.ts";
import { each, type GoodRow, good, long, someId } from "./table.ts";

const observe = { managementPolicy: "Observe", externalId: someId };
const rotations: [every: string, at?: string][] = [["1h"], ["PT24H", "00:00"], ["P30D", "23:59"], ["720h30m"]];

/** What both kinds with a key accept alike. */
const keyed = (base: Base) =>
  good(base, base.kind, [
    ["as small as can be", {}],
    ["a name at its longest", { name: long(20) }],
    ["a Secret of another name", { secretName: "push.access-1" }],
    ...rotations.map(
      ([every, at]): GoodRow => [`a new key every ${every}, at ${at}`, { keyRotation: { every, ...(at && { at }) } }],
    ),
    ["taken over", { externalId: someId }],
  ]);

const app = { source: "generic", tag: "app", protocol: "tcp" };
const stream = (fields: object) => ({ logs: [{ ...app, ...fields }] });
const one = (field: string, values: readonly unknown[]): GoodRow[] =>
  values.map((value) => [`a stream with ${field} ${value}`, stream({ [field]: value })]);

export const goodPipelines = [
  ...keyed(metricPipeline),
  ...keyed(logPipeline),
  ...good(metricPipeline, "MetricPipeline", [
    ["only observed, by nothing but its id", observe],
    ["a push every five minutes", { pushInterval: "5m" }],
  ]),
  ...good(logPipeline, "LogPipeline", [
    ...one("source", ["kubernetes", "docker", "systemd", "generic"]),
    ...one("tag", ["abc", long(20)]),
    ...one("retentionInDays", [7, 14, 30, "7", "14", "30", "unlimited"]),
    ["JSON over HTTP", stream({ source: "http", protocol: "http" })],
    ["five streams", { logs: ["aaa", "bbb", "ccc", "ddd", "eee"].map((tag) => ({ ...app, tag })) }],
    ["only observed, by nothing but its id", { ...observe, logs: null }],
  ]),
  ...good(centralLogging, "CentralLogging", [
    ...each("enabled", [true, false]),
    ["left as it is when deleted", { deletionPolicy: "Retain" }],
    ["only observed, by nothing but its id", { ...observe, enabled: null }],
  ]),
  ...good(accessToken, "AccessToken", [
    ["as small as can be", { lifetime: null }],
    ...each("lifetime", ["1h", "4h", "1d", "7d", "30d", "60d", "90d", "180d", "365d"]),
    ["a Secret of another name", { secretName: "platform.access-1" }],
    ["only observed, by nothing but its id", { ...observe, lifetime: null }],
  ]),
];

export const goodPipelineChanges = [
  ...good(metricPipeline, "MetricPipeline", [
    ["another name, Secret and rotation", { name: "b", secretName: "b", keyRotation: { every: "2h" } }],
  ]),
  ...good(logPipeline, "LogPipeline", [
    ["other streams", { logs: [{ source: "docker", tag: "web", protocol: "http", retentionInDays: "unlimited" }] }],
  ]),
  ...good(centralLogging, "CentralLogging", [["switched off", { enabled: false }]]),
  ...good(accessToken, "AccessToken", [["another Secret", { secretName: "b" }]]),
];
