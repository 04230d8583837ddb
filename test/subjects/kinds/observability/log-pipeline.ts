import { type AcceptedRow, bad, good, long, observed } from "../../manifests.ts";
import { badKeyed, deliver, goodKeyed, rotated, secretOf } from "../../pipeline.ts";
import type { Subject } from "../../subject.ts";

const app = { source: "generic", tag: "app", protocol: "http" };
const base = { kind: "LogPipeline", spec: { logs: [app] } };
const more = { logs: [app, { source: "docker", tag: "web", protocol: "tcp" }] };

const tcp = { source: "generic", tag: "app", protocol: "tcp" };
const logs = (...streams: object[]) => ({ logs: streams });
const stream = (fields: object) => logs({ ...tcp, ...fields });
const one = (field: string, values: readonly unknown[]): AcceptedRow[] =>
  values.map((value) => [`a stream with ${field} ${value}`, stream({ [field]: value })]);

export const subject: Subject = {
  ...base,
  prefix: "lp",
  wire: {
    collection: "logPipelines",
    path: () => "/logging/de-txl/pipelines",
    body: (name) => ({ properties: { name, logs: [app] } }),
  },
  change: (name) => ({ spec: { name: `${name}-again` }, shows: { name: `${name}-again` } }),
  life: () => ({
    changes: [{ title: "update", spec: more }, rotated(more)],
    secrets: secretOf(({ httpAddress, key }) =>
      deliver(`${httpAddress}/app`, key, "application/json", JSON.stringify({ message: "alive" })),
    ),
  }),
  manifests: {
    accepted: [
      ...goodKeyed(base),
      ...good(base, "LogPipeline", [
        ...one("source", ["kubernetes", "docker", "systemd", "generic"]),
        ...one("tag", ["abc", long(20)]),
        ...one("retentionInDays", [7, 14, 30, "7", "14", "30", "unlimited"]),
        ["JSON over HTTP", stream({ source: "http", protocol: "http" })],
        ["five streams", { logs: ["aaa", "bbb", "ccc", "ddd", "eee"].map((tag) => ({ ...tcp, tag })) }],
        ["only observed, by nothing but its id", { ...observed, logs: null }],
      ]),
    ],
    refused: [
      ...badKeyed(base),
      ...bad(base, "LogPipeline", [
        ["no streams", { logs: null }, "logs is required"],
        ["an empty list of streams", logs(), "spec.logs", "at least 1 items"],
        ["six streams", logs(...["t01", "t02", "t03", "t04", "t05", "t06"].map((tag) => ({ ...tcp, tag }))), "5"],
        ["two streams with one tag", logs(tcp, { ...tcp, source: "docker" }), "spec.logs", "tag must be unique"],
        ["a tag of two characters", stream({ tag: "ab" }), "spec.logs[0].tag", "must have 3 to 20 letters and digits"],
        ["a tag with a dash", stream({ tag: "my-app" }), "spec.logs[0].tag", "must have 3 to 20 letters and digits"],
        ["a tag of 21 characters", stream({ tag: long(21) }), "spec.logs[0].tag"],
        ["no tag", logs({ source: "generic", protocol: "tcp" }), "spec.logs[0].tag", "Required value"],
        ["no protocol", logs({ source: "generic", tag: "app" }), "spec.logs[0].protocol", "Required value"],
        ["an unknown source", stream({ source: "journald" }), "spec.logs[0].source", '"systemd"'],
        ["an unknown protocol", stream({ protocol: "udp" }), "spec.logs[0].protocol", '"tcp", "http"'],
        ["records for ten days", stream({ retentionInDays: 10 }), "spec.logs[0].retentionInDays", "unlimited"],
        ["records for a while", stream({ retentionInDays: "long" }), "spec.logs[0].retentionInDays", "unlimited"],
        ["JSON over HTTP by the forward protocol", stream({ source: "http" }), "source http needs protocol http"],
      ]),
    ],
    changes: {
      accepted: [
        ...good(base, "LogPipeline", [
          [
            "other streams",
            { logs: [{ source: "docker", tag: "web", protocol: "http", retentionInDays: "unlimited" }] },
          ],
        ]),
      ],
    },
  },
};
