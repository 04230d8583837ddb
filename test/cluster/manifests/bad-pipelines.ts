import { accessToken, type Base, centralLogging, logPipeline, metricPipeline } from "./base.ts";
import { type BadManifest, bad, long, someId } from "./table.ts";

const rotation = (fields: object) => ({ keyRotation: { every: "24h", ...fields } });

/** What both kinds with a key refuse alike. */
const keyed = (base: Base) =>
  bad(base, base.kind, [
    ["an empty name", { name: "" }, "spec.name", "at least 1 chars long"],
    ["a name of 21 characters", { name: long(21) }, "spec.name", "20"],
    ["observed without an id", { managementPolicy: "Observe" }, "managementPolicy Observe needs externalId"],
    ["a Secret that cannot be", { secretName: "My_Secret" }, "spec.secretName", "must be the name of an object"],
    ["a rotation without its age", { keyRotation: { at: "03:00" } }, "spec.keyRotation.every", "Required value"],
    ["a rotation every half hour", rotation({ every: "30m" }), "spec.keyRotation.every", "must be at least 1h"],
    ["a rotation every now and then", rotation({ every: "daily" }), "spec.keyRotation.every", "must be a duration"],
    ["a rotation at 24:00", rotation({ at: "24:00" }), "spec.keyRotation.at", "must be a time of day in UTC"],
    ["a rotation at three", rotation({ at: "3:00" }), "spec.keyRotation.at", "for example 03:00"],
    ["a key of one's choice", { key: "mine" }, 'unknown field "spec.key"'],
  ]);

const app = { source: "generic", tag: "app", protocol: "tcp" };
const logs = (...streams: object[]) => ({ logs: streams });
const stream = (fields: object) => logs({ ...app, ...fields });

/** The object's own name counts where spec has none. */
const tooLong = (base: Base): BadManifest => ({
  title: `${base.kind}: an object whose name is too long for a pipeline`,
  base,
  patch: { name: null },
  says: [`metadata.name is too long for a ${base.kind}`, "at most 20 characters: set spec.name"],
  name: `${base.kind.toLowerCase()}-of-the-whole-shop`,
});

export const badPipelines = [
  tooLong(metricPipeline),
  tooLong(logPipeline),
  ...keyed(metricPipeline),
  ...keyed(logPipeline),
  ...bad(accessToken, "AccessToken", [
    ["a lifetime that the platform does not have", { lifetime: "2h" }, "spec.lifetime", '"1h", "4h", "1d"'],
    ["a Secret that cannot be", { secretName: "My_Secret" }, "spec.secretName", "must be the name of an object"],
    ["observed without an id", { managementPolicy: "Observe" }, "managementPolicy Observe needs externalId"],
  ]),
  ...bad(metricPipeline, "MetricPipeline", [
    ["a push every second", { pushInterval: "1s" }, "spec.pushInterval", "must be from 10s to 1h"],
    ["a push now and then", { pushInterval: "often" }, "spec.pushInterval", "must be a duration"],
  ]),
  ...bad(logPipeline, "LogPipeline", [
    ["no streams", { logs: null }, "logs is required"],
    ["an empty list of streams", logs(), "spec.logs", "at least 1 items"],
    ["six streams", logs(...["t01", "t02", "t03", "t04", "t05", "t06"].map((tag) => ({ ...app, tag }))), "5"],
    ["two streams with one tag", logs(app, { ...app, source: "docker" }), "spec.logs", "tag must be unique"],
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
  ...bad(centralLogging, "CentralLogging", [
    ["neither on nor off", { enabled: null }, "enabled is required"],
    ["on in a word", { enabled: "on" }, "spec.enabled", "must be of type boolean"],
    ["observed without an id", { managementPolicy: "Observe" }, "managementPolicy Observe needs externalId"],
    ["a region of its own", { region: "de/txl" }, 'unknown field "spec.region"'],
  ]),
];

export const badPipelineChanges = [
  ...bad(metricPipeline, "MetricPipeline", [
    ["another Account", { accountRef: { name: "other" } }, "accountRef cannot be changed"],
    ["taken over later", { externalId: someId }, "externalId cannot be set or changed while the object has a resource"],
  ]),
  ...bad(centralLogging, "CentralLogging", [
    ["another Account", { accountRef: { name: "other" } }, "accountRef cannot be changed"],
  ]),
];
