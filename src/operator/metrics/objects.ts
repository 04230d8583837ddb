import type { ObjectObserver } from "../../controllers/manager-options.ts";
import type { ObjectKey } from "../../engine/state/object.ts";
import { reasons } from "../../engine/status/reasons.ts";
import { readStatus, readWhole } from "../../engine/status/status.ts";
import type { KubeObject } from "../../kube/resource.ts";
import type { Clock } from "../../runtime/clock.ts";

/** A gauge with a series per object. There may be very many, so its lines are produced one by one. */
interface ObjectGauge {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
}

const identityLabels = ["kind", "namespace", "name"];
const ready: ObjectGauge = {
  name: "mooring_object_ready",
  help: "1 if the object is Ready, else 0; only up to --object-metrics objects",
  labels: [...identityLabels, "reason"],
};
const counts: ObjectGauge = {
  name: "mooring_objects",
  help: "Objects by kind, namespace, Ready reason and state: ready, reconciling, or stalled until somebody acts",
  labels: ["kind", "namespace", "reason", "state"],
};
const tokens: ObjectGauge = {
  name: "mooring_token_expiry_timestamp_seconds",
  help: "When the token of an Account, ClusterAccount, AccessToken or InferenceAccess expires, in seconds since 1970; renewed: the operator replaces it in time",
  labels: [...identityLabels, "renewed"],
};
const certificates: ObjectGauge = {
  name: "mooring_certificate_expiry_timestamp_seconds",
  help: "When a published client certificate expires, in seconds since 1970",
  labels: identityLabels,
};
const keys: ObjectGauge = {
  name: "mooring_key_issued_timestamp_seconds",
  help: "When a published key was issued, in seconds since 1970",
  labels: identityLabels,
};
const watermarks: ObjectGauge = {
  name: "mooring_activity_export_watermark_timestamp_seconds",
  help: "Time up to which an ActivityLogExport has delivered all entries, in seconds since 1970, by the platform's clock",
  labels: identityLabels,
};
/** Gauges with a timestamp of each object that has one; `more` gives their additional labels. */
const times: { gauge: ObjectGauge; of(object: KubeObject): unknown; more?(object: KubeObject): string[] }[] = [
  {
    gauge: tokens,
    of: (object) => readWhole(object).tokenExpiresAt,
    more: (object) => [String(readStatus(object).key !== undefined || readWhole(object).tokenId !== undefined)],
  },
  { gauge: certificates, of: (object) => readStatus(object).certificate?.expiresAt },
  { gauge: keys, of: (object) => readStatus(object).key?.issuedAt },
  { gauge: watermarks, of: (object) => Reflect.get(Object(readWhole(object).watermark), "time") },
];
export const objectGauges = [ready, counts, ...times.map(({ gauge }) => gauge)];

export interface ObjectMetrics {
  observe: ObjectObserver;
  /** From now on, measures how long objects take to become Ready. */
  begin(): void;
  /** All series in the Prometheus text format, line by line. Objects may change meanwhile. */
  lines(): Generator<string>;
}

/** The state of an object that the metrics need. */
interface Seen {
  uid: string | undefined;
  generation: number | undefined;
  /** When this generation was first seen; undefined once it is Ready. */
  since: number | undefined;
  reason: string;
  isReady: boolean;
  group: Group;
}

/** The number of objects with the same labels. */
interface Group {
  readonly line: string;
  size: number;
}

/** Metrics of objects. State is updated with every change, and text is produced at a scrape. */
export function createObjectMetrics(options: {
  clock: Pick<Clock, "monotonic">;
  /** Up to this many objects have a series of their own. */
  most: number;
  becameReady(kind: string, seconds: number): void;
}): ObjectMetrics {
  const { clock, most } = options;
  const seen = new Map<ObjectKey, Seen>();
  const groups = new Map<string, Group>();
  const timed = times.map((each) => ({ ...each, lines: new Map<ObjectKey, string>() }));
  let begun = false;

  function enter(line: string): Group {
    const group = groups.get(line) ?? { line, size: 0 };
    group.size += 1;
    groups.set(group.line, group);
    return group;
  }

  function leave(group: Group): void {
    group.size -= 1;
    if (group.size === 0) groups.delete(group.line);
  }

  function observe(key: ObjectKey, object: KubeObject | undefined): void {
    const before = seen.get(key);
    if (before) leave(before.group);
    for (const { gauge, of, more, lines } of timed) {
      const at = object && of(object);
      const time = typeof at === "string" ? Date.parse(at) / 1000 : Number.NaN;
      if (!object || Number.isNaN(time)) lines.delete(key);
      else lines.set(key, lineOf(gauge, [...partsOf(key), ...(more?.(object) ?? [])], time));
    }
    if (!object) return void seen.delete(key);
    const [kind = "", namespace = ""] = partsOf(key);
    const { uid, generation } = object.metadata;
    const { reason, state } = readinessOf(object);
    const isReady = state === "ready";
    const isNew = before?.uid !== uid || before?.generation !== generation;
    const since = isNew && begun ? clock.monotonic() : before?.since;
    // An object that is Ready when first seen became so under another process.
    if (before && isReady && since !== undefined) options.becameReady(kind, (clock.monotonic() - since) / 1000);
    const group = enter(lineOf(counts, [kind, namespace, reason, state]));
    seen.set(key, { uid, generation, since: isReady ? undefined : since, reason, isReady, group });
  }

  return {
    observe,
    begin() {
      begun = true;
    },
    *lines() {
      yield* headOf(ready);
      const shown = seen.size <= most ? seen : [];
      for (const [key, { reason, isReady }] of shown) yield lineOf(ready, [...partsOf(key), reason], isReady ? 1 : 0);
      yield* headOf(counts);
      for (const { line, size } of groups.values()) yield `${line}${size}`;
      for (const { gauge, lines } of timed) {
        yield* headOf(gauge);
        yield* lines.values();
      }
    },
  };
}

/** Kind, namespace and name. */
function partsOf(key: ObjectKey): string[] {
  const parts = key.split("/");
  return parts.length === 3 ? parts : [parts[0] ?? "", "", parts[1] ?? ""];
}

/** Shares one string per reason, to save memory. */
const reasonNames = new Map(Object.keys(reasons).map((word) => [word, word]));

type State = "ready" | "reconciling" | "stalled";

/** Others can write the status of an Account, so only reasons from the list become a label. */
function readinessOf(object: KubeObject): { reason: string; state: State } {
  const { conditions = [], observedGeneration } = readStatus(object);
  const conditionOf = (type: string) => conditions.find((each) => each.type === type);
  const reason = conditionOf("Ready")?.reason ?? "Pending";
  const isObserved = observedGeneration === object.metadata.generation;
  const isTrue = (type: string) => conditionOf(type)?.status === "True";
  const settled: State = isTrue("Ready") ? "ready" : isTrue("Stalled") ? "stalled" : "reconciling";
  return { reason: reasonNames.get(reason) ?? "Unknown", state: isObserved ? settled : "reconciling" };
}

const headOf = ({ name, help }: ObjectGauge): string[] => [`# HELP ${name} ${help}`, `# TYPE ${name} gauge`];

/** Label values are Kubernetes names and reasons from the list: none needs escaping. */
const lineOf = ({ name, labels }: ObjectGauge, values: readonly string[], value: number | "" = ""): string =>
  `${name}{${labels.map((label, index) => `${label}="${values[index]}"`).join(",")}} ${value}`;
