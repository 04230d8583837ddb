import { isDeepStrictEqual } from "node:util";
import { resourceOf } from "../../engine/state/object.ts";
import { GROUP } from "../../kinds/index.ts";
import { isForbidden, isNotFound, KubeError } from "../../kube/client/errors.ts";
import type { KubeClient } from "../../kube/client/transport.ts";
import { type KubeObject, LAST_APPLIED, pathOf, withoutManagedFields } from "../../kube/resource.ts";
import type { Candidate } from "../outcome.ts";
import { problems, withDefaults } from "../schema/validate.ts";
import type { Manifest } from "./manifests.ts";

type Json = Record<string, unknown>;
const isJson = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);

interface Asked {
  manifest: Manifest;
  live: KubeObject | undefined;
  /** The CRD schema of the kind, if the API server cannot be asked. */
  schema: object;
  signal: AbortSignal;
}

/** The object after `kubectl apply`, by the schema alone. */
export function offline({ manifest: { kind, object, problem }, live, schema }: Asked): Candidate {
  const stored = withDefaults(schema, merged(live, object));
  const desired = withStatus(stored as KubeObject, live);
  const found = [...(problem === undefined ? [] : [problem]), ...problems(schema, desired, live)];
  if (found.length === 0) return { kind, live, desired };
  return { kind, live, desired, refused: found.join("; "), isReplaceable: isReplaceable(schema, desired, live) };
}

/** The object would be accepted if it allowed its replacement. */
function isReplaceable(schema: object, desired: KubeObject, live: KubeObject | undefined): boolean {
  if (!live) return false;
  const allowing = { ...desired, spec: { ...Object(desired.spec), replacePolicy: "WhenNeeded" } };
  return problems(schema, allowing, live).length === 0;
}

/** The object after an apply, by a dry run. `whyOffline` says why the schema was used instead. */
export async function dryRun(
  client: Pick<KubeClient, "request">,
  asked: Asked,
): Promise<Candidate & { whyOffline?: string }> {
  const { manifest, live, schema, signal } = asked;
  const { kind, object, problem } = manifest;
  // No path can be made of an invalid name, and the API server would refuse it.
  if (problem !== undefined) return offline(asked);
  if (live && isApplied(object, live, schema)) return { kind, live, desired: withStatus(live, live) };
  const path = pathOf(resourceOf(kind), object.metadata);
  const query = { dryRun: "All", fieldValidation: "Strict" };
  const last = lastApplied(live);
  try {
    const answer = last
      ? await client.request<KubeObject>({
          method: "PATCH",
          path,
          query: { ...query, fieldManager: "kubectl-client-side-apply" },
          contentType: "application/merge-patch+json",
          body: threeWay(last, object),
          signal,
        })
      : await client.request<KubeObject>({
          method: "PATCH",
          path,
          query: { ...query, fieldManager: managerOf(live), force: "true" },
          contentType: "application/apply-patch+yaml",
          body: withoutManagedFields(object),
          signal,
        });
    return { kind, live, desired: withStatus(withoutManagedFields(answer), live) };
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    const { status, message } = error;
    if (isForbidden(error) && !isPolicy(error)) return { ...offline(asked), whyOffline: "you may not patch" };
    if (isNotFound(error)) return { ...offline(asked), whyOffline: "its namespace or its CRD is not there yet" };
    const mistyped = MISTYPED.exec(message)?.[1];
    if (mistyped === undefined && (status < 400 || status >= 500)) throw error;
    const { desired = object, isReplaceable = false } = offline(asked);
    return { kind, live, desired: withStatus(desired, live), refused: mistyped ?? plain(message), isReplaceable };
  }
}

/** The message without the call that it answers. */
const plain = (message: string): string => message.replace(/^[A-Z]+ \S+: \d{3} \w+: /, "");

/** The API server answers 500 to a server-side apply with a field that the schema does not have. */
const MISTYPED = /failed to create typed patch object \([^)]*\): (.+)$/s;

/** Tells a refusal by an admission policy from a missing right. */
const isPolicy = ({ message }: KubeError): boolean =>
  /denied request|ValidatingAdmissionPolicy|admission webhook/.test(message);

/** Keeps the live status, which an apply does not change. */
const withStatus = (object: KubeObject, live: KubeObject | undefined): KubeObject => {
  const { status: _, ...rest } = object;
  const { uid, creationTimestamp, finalizers, deletionTimestamp } = live?.metadata ?? {};
  const changed = !isDeepStrictEqual(object.spec, live?.spec);
  const generation = (live?.metadata.generation ?? 0) + (changed ? 1 : 0);
  return {
    ...rest,
    metadata: {
      ...object.metadata,
      generation,
      ...(uid !== undefined && { uid }),
      ...(creationTimestamp !== undefined && { creationTimestamp }),
      ...(finalizers && { finalizers }),
      ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    },
    ...(live?.status !== undefined && { status: live.status }),
  };
};

/** The apply would change nothing, so no call is needed. */
function isApplied(object: KubeObject, live: KubeObject, schema: object): boolean {
  const { spec } = withDefaults(schema, object) as KubeObject;
  const own = Object.entries(object.metadata.annotations ?? {}).filter(([name]) => name.startsWith(`${GROUP}/`));
  const annotations = live.metadata.annotations ?? {};
  return isDeepStrictEqual(spec, live.spec) && own.every(([name, value]) => annotations[name] === value);
}

function lastApplied(live: KubeObject | undefined): Json | undefined {
  try {
    const parsed: unknown = JSON.parse(live?.metadata.annotations?.[LAST_APPLIED] ?? "");
    return isJson(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** The field manager of the last apply; else kubectl's. */
function managerOf(live: KubeObject | undefined): string {
  const fields: unknown = Reflect.get(Object(live?.metadata), "managedFields");
  const own = (Array.isArray(fields) ? fields : []).find(
    (each) => Object(each).operation === "Apply" && Object(Object(each).fieldsV1)["f:spec"] !== undefined,
  );
  return String(Object(own).manager ?? "kubectl");
}

/** The patch that kubectl sends: the manifest, and null for fields that the manifest no longer has. */
function threeWay(last: Json, { metadata, spec }: KubeObject): Json {
  const { labels = {}, annotations = {} } = metadata;
  const { annotations: lastAnnotations, ...before } = isJson(last.metadata) ? last.metadata : {};
  return {
    metadata: {
      labels: withRemovals(isJson(before.labels) ? before.labels : {}, labels),
      annotations: withRemovals(isJson(lastAnnotations) ? lastAnnotations : {}, annotations),
    },
    spec: withRemovals(isJson(last.spec) ? last.spec : {}, isJson(spec) ? spec : {}),
  };
}

function withRemovals(before: Json, after: Json): Json {
  const gone = Object.keys(before).filter((name) => after[name] === undefined);
  const kept = Object.entries(after).map(([name, value]) => {
    const old = before[name];
    return [name, isJson(value) && isJson(old) ? withRemovals(old, value) : value];
  });
  return { ...Object.fromEntries(gone.map((name) => [name, null])), ...Object.fromEntries(kept) };
}

/** Without an API server: keeps live fields that were never in the manifest. */
function merged(live: KubeObject | undefined, object: KubeObject): KubeObject {
  const last = lastApplied(live);
  if (!live || !last) return object;
  const apply = (target: unknown, patch: unknown): unknown => {
    if (!isJson(patch)) return patch;
    const result: Json = isJson(target) ? { ...target } : {};
    for (const [name, value] of Object.entries(patch)) {
      if (value === null) delete result[name];
      else result[name] = apply(result[name], value);
    }
    return result;
  };
  return { ...object, spec: apply(live.spec, threeWay(last, object).spec) };
}
