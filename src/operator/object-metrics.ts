import type { Clock } from "../clock.ts";
import type { ObjectObserver } from "../engine/engine.ts";
import type { ObjectKey } from "../engine/objects/object.ts";
import { reasons } from "../engine/schema/reasons.ts";
import { readStatus, readWhole } from "../engine/schema/status.ts";
import type { KubeObject } from "../kube/resource.ts";

/** A gauge with a line per object. It may have very many: its lines are kept ready, and read one by one. */
interface ObjectGauge {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
}

const named = ["kind", "namespace", "name"];
const ready: ObjectGauge = {
  name: "mooring_object_ready",
  help: "1 if the object is Ready, else 0; only up to --object-metrics objects",
  labels: [...named, "reason"],
};
const counts: ObjectGauge = {
  name: "mooring_objects",
  help: "Objects by kind, namespace and Ready reason",
  labels: ["kind", "namespace", "reason"],
};
const tokens: ObjectGauge = {
  name: "mooring_token_expiry_timestamp_seconds",
  help: "When the token of an Account or ClusterAccount expires, in seconds since 1970",
  labels: named,
};
const certificates: ObjectGauge = {
  name: "mooring_certificate_expiry_timestamp_seconds",
  help: "When a published client certificate expires, in seconds since 1970",
  labels: named,
};
export const objectGauges = [ready, counts, tokens, certificates];

export interface ObjectMetrics {
  observe: ObjectObserver;
  /** From here on it is measured how long objects take to become Ready. */
  begin(): void;
  /** All of it as Prometheus reads it, line by line; objects may come and go meanwhile. */
  lines(): Generator<string>;
}

/** What the metrics know of an object. */
interface Seen {
  uid: string | undefined;
  generation: number | undefined;
  /** Since when it is wanted as it is, until it is Ready. */
  since: number | undefined;
  line: string;
  group: string;
}

/** What is told about each object: kept with every change, so that a scrape only has to read it out. */
export function createObjectMetrics(options: {
  clock: Pick<Clock, "monotonic">;
  /** Up to so many objects have a line of their own. */
  most: number;
  becameReady(kind: string, seconds: number): void;
}): ObjectMetrics {
  const { clock, most } = options;
  const seen = new Map<ObjectKey, Seen>();
  const groups = new Map<string, number>();
  const expiries = { tokens: new Map<ObjectKey, string>(), certificates: new Map<ObjectKey, string>() };
  let begun = false;

  function count(group: string, by: 1 | -1): void {
    const number = (groups.get(group) ?? 0) + by;
    if (number === 0) groups.delete(group);
    else groups.set(group, number);
  }

  function expires(lines: Map<ObjectKey, string>, key: ObjectKey, gauge: ObjectGauge, at: unknown): void {
    const time = typeof at === "string" ? Date.parse(at) / 1000 : Number.NaN;
    if (Number.isNaN(time)) lines.delete(key);
    else lines.set(key, lineOf(gauge, partsOf(key), time));
  }

  function observe(key: ObjectKey, object: KubeObject | undefined): void {
    const before = seen.get(key);
    if (before) count(before.group, -1);
    expires(expiries.tokens, key, tokens, object && readWhole(object).tokenExpiresAt);
    expires(expiries.certificates, key, certificates, object && readStatus(object).certificate?.expiresAt);
    if (!object) return void seen.delete(key);
    const [kind = "", namespace = "", name = ""] = partsOf(key);
    const { uid, generation } = object.metadata;
    const { reason, isReady } = standingOf(object);
    const isNew = before?.uid !== uid || before?.generation !== generation;
    const since = isNew && begun ? clock.monotonic() : before?.since;
    if (isReady && since !== undefined) options.becameReady(kind, (clock.monotonic() - since) / 1000);
    const group = lineOf(counts, [kind, namespace, reason]);
    count(group, 1);
    const line = lineOf(ready, [kind, namespace, name, reason], isReady ? 1 : 0);
    seen.set(key, { uid, generation, since: isReady ? undefined : since, line, group });
  }

  return {
    observe,
    begin() {
      begun = true;
    },
    *lines() {
      yield* headOf(ready);
      if (seen.size <= most) for (const { line } of seen.values()) yield line;
      yield* headOf(counts);
      for (const [group, number] of groups) yield `${group}${number}`;
      yield* headOf(tokens);
      yield* expiries.tokens.values();
      yield* headOf(certificates);
      yield* expiries.certificates.values();
    },
  };
}

/** Kind, namespace and name. */
function partsOf(key: ObjectKey): string[] {
  const parts = key.split("/");
  return parts.length === 3 ? parts : [parts[0] ?? "", "", parts[1] ?? ""];
}

/** Others may have written the status of an Account: only the words of the list are told. */
function standingOf(object: KubeObject): { reason: string; isReady: boolean } {
  const { conditions = [], observedGeneration } = readStatus(object);
  const condition = conditions.find(({ type }) => type === "Ready");
  const reason = condition?.reason ?? "Pending";
  const isReady = condition?.status === "True" && observedGeneration === object.metadata.generation;
  return { reason: reason in reasons ? reason : "Unknown", isReady };
}

const headOf = ({ name, help }: ObjectGauge): string[] => [`# HELP ${name} ${help}`, `# TYPE ${name} gauge`];

/** What stands in the labels comes from names of Kubernetes and the list of reasons: none of it has to be escaped. */
const lineOf = ({ name, labels }: ObjectGauge, values: readonly string[], value: number | "" = ""): string =>
  `${name}{${labels.map((label, index) => `${label}="${values[index]}"`).join(",")}} ${value}`;
