import { z } from "zod";
import { kinds } from "../../../src/kinds/index.ts";
import { KubeError } from "../../../src/kube/client/errors.ts";
import type { KubeCall, KubeClient } from "../../../src/kube/client/transport.ts";
import type { KubeObject } from "../../../src/kube/resource.ts";

const steps = z.array(z.object({ path: z.string(), value: z.unknown() }));

/** The values that a patch writes; one that is a list of steps sets whole values. */
export function written(body: unknown): unknown {
  const { data } = steps.safeParse(body);
  const at = (path: string) => data?.find((step) => step.path === path)?.value;
  return data ? { metadata: { resourceVersion: at("/metadata/resourceVersion") }, status: at("/status") } : body;
}

const patch = z.looseObject({
  metadata: z
    .looseObject({
      uid: z.string().optional(),
      resourceVersion: z.string().optional(),
      finalizers: z.array(z.string()).optional(),
      labels: z.record(z.string(), z.string().nullable()).optional(),
      annotations: z.record(z.string(), z.string().nullable()).optional(),
    })
    .default({}),
  data: z.record(z.string(), z.string().nullable()).optional(),
  status: z.unknown().optional(),
});

const deletion = z.looseObject({
  preconditions: z.object({ uid: z.string().optional(), resourceVersion: z.string().optional() }).optional(),
});

const kubeObject = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
});

export function pathTo({ kind, metadata }: KubeObject): string {
  const root = ["Secret", "ConfigMap"].includes(kind) ? "/api/v1" : "/apis/mooring.dev/v1alpha1";
  const scope = metadata.namespace === undefined ? "" : `/namespaces/${metadata.namespace}`;
  const plural = kinds.find((each) => each.kind === kind)?.plural ?? `${kind.toLowerCase()}s`;
  return `${root}${scope}/${plural}/${metadata.name}`;
}

/**
 * An API server of a few lines. Of metadata it knows two owners: Mooring, and the one who put the object there. An apply
 * takes away what only Mooring owned and leaves what the other owns; a merge patch takes away whatever it names.
 */
export function fakeApiServer(...initial: KubeObject[]) {
  const objects = new Map<string, KubeObject>();
  /** Annotations that somebody else owns as well, by object. */
  const foreign = new Map<string, Set<string>>();
  const calls: KubeCall[] = [];
  const streams: { call: KubeCall; send: (type: string, object: unknown) => void }[] = [];
  let version = 1000;
  /** Called before each call; may throw, or change something behind the caller's back. */
  let before: (call: KubeCall) => void = () => {};

  const error = (status: number, reason: string) => new KubeError({ status, reason, message: reason });
  const found = (path: string): KubeObject => {
    const object = objects.get(path);
    if (!object) throw error(404, "NotFound");
    return object;
  };
  /** The objects of a collection; undefined when the path names an object. */
  const listed = (path: string) =>
    /\/namespaces\/[^/]+\/[^/]+\/[^/]|\/clusteraccounts\/[^/]/.test(path)
      ? undefined
      : { items: [...objects].filter(([each]) => each.startsWith(`${path}/`)).map(([, object]) => object) };
  function put(object: KubeObject): KubeObject {
    const path = pathTo(object);
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(++version) } };
    foreign.set(path, new Set(Object.keys(object.metadata.annotations ?? {})));
    objects.set(path, stored);
    return structuredClone(stored);
  }

  function remove(object: KubeObject): boolean {
    version++;
    return objects.delete(pathTo(object));
  }

  const whole = (body: unknown): KubeObject => kubeObject.parse(JSON.parse(JSON.stringify(body)));
  function make({ body }: KubeCall): KubeObject {
    const object = whole(body);
    if (objects.has(pathTo(object))) throw error(409, "AlreadyExists");
    return put({ ...object, metadata: { ...object.metadata, uid: `uid-${object.metadata.name}-${version}` } });
  }
  function replace({ path, body }: KubeCall): KubeObject {
    const object = whole(body);
    expectUnchanged(found(path), object.metadata);
    return put(object);
  }
  function expectUnchanged(
    { metadata }: KubeObject,
    known: { uid?: string | undefined; resourceVersion?: string | undefined },
  ): void {
    if (known.uid !== undefined && known.uid !== metadata.uid) throw error(409, "Conflict");
    if (known.resourceVersion !== undefined && known.resourceVersion !== metadata.resourceVersion)
      throw error(409, "Conflict");
  }
  const verbs = {
    GET: ({ path }: KubeCall) => listed(path) ?? found(path),
    POST: make,
    PUT: replace,
    PATCH: change,
    DELETE({ path, body }: KubeCall) {
      const object = found(path);
      expectUnchanged(object, deletion.parse(body ?? {}).preconditions ?? {});
      remove(object);
      return {};
    },
  };

  function change({ path: called, contentType, body }: KubeCall): KubeObject {
    const path = called.replace(/\/status$/, "");
    const current = found(path);
    const { metadata, data, status } = patch.parse(written(body));
    expectUnchanged(current, metadata);
    const others = foreign.get(path) ?? new Set();
    const { annotations: old = {}, finalizers: oldFinalizers = [] } = current.metadata;
    const next = structuredClone(current);
    next.metadata.resourceVersion = String(++version);
    const labels = Object.entries({ ...next.metadata.labels, ...metadata.labels });
    if (metadata.labels)
      next.metadata.labels = Object.fromEntries(
        labels.flatMap(([name, value]) => (value === null ? [] : [[name, value]])),
      );
    if (data)
      next.data = Object.fromEntries(Object.entries({ ...Object(current.data), ...data }).filter(([, value]) => value));
    const merged =
      contentType === "application/merge-patch+json" ? { ...Object(current.status), ...Object(status) } : status;
    if (called.endsWith("/status")) next.status = merged;
    else if (contentType === "application/apply-patch+yaml") {
      const wanted = Object.entries(metadata.annotations ?? {}).flatMap(([name, value]) =>
        value === null ? [] : [[name, value] as const],
      );
      for (const [name, value] of wanted) if (old[name] !== value) others.delete(name);
      const kept = Object.entries(old).filter(([name]) => others.has(name));
      next.metadata.annotations = Object.fromEntries([...kept, ...wanted]);
      next.metadata.finalizers = [...new Set([...oldFinalizers, ...(metadata.finalizers ?? [])])];
    } else {
      const merged = Object.entries({ ...old, ...metadata.annotations });
      next.metadata.annotations = Object.fromEntries(
        merged.flatMap(([name, value]) => (value === null ? [] : [[name, value]])),
      );
      if (metadata.finalizers) next.metadata.finalizers = metadata.finalizers;
    }
    objects.set(path, next);
    if (!next.metadata.deletionTimestamp || next.metadata.finalizers?.length) return next;
    remove(next);
    // As the API server answers when the last finalizer goes: with the version from before.
    const { resourceVersion = "" } = current.metadata;
    return { ...next, metadata: { ...next.metadata, resourceVersion } };
  }

  /** Judges a write like any other, and keeps nothing of it. */
  function tried(call: KubeCall): unknown {
    const kept = { objects: new Map(objects), foreign: structuredClone(foreign), version };
    try {
      return verbs[call.method](call);
    } finally {
      for (const [all, before] of [[objects, kept.objects] as const, [foreign, kept.foreign] as const]) {
        all.clear();
        for (const [path, each] of before) Reflect.apply(all.set, all, [path, each]);
      }
      version = kept.version;
    }
  }

  const client: KubeClient = {
    server: "",
    async request<T>(call: KubeCall): Promise<T> {
      calls.push(call);
      before(call);
      return JSON.parse(JSON.stringify(isDryRun(call) ? tried(call) : verbs[call.method](call)));
    },
    async stream(call) {
      calls.push(call);
      const lines: string[] = [];
      let wake = () => {};
      const send = (type: string, object: unknown) => {
        lines.push(`${JSON.stringify({ type, object })}\n`);
        wake();
      };
      streams.push({ call, send });
      return (async function* () {
        while (!call.signal?.aborted) {
          for (const line of lines.splice(0)) yield Buffer.from(line);
          await new Promise<void>((resolve) => {
            wake = resolve;
            call.signal?.addEventListener("abort", () => resolve(), { once: true });
          });
        }
      })();
    },
    close: async () => {},
  };
  for (const object of initial) put(object);
  return {
    client,
    calls,
    streams,
    put,
    get: (object: KubeObject) => objects.get(pathTo(object)),
    remove,
    /** Marks an object with a finalizer as deleted, as the API server does. */
    markDeleted({ metadata }: KubeObject) {
      metadata.deletionTimestamp = "2026-01-01T00:00:00Z";
      metadata.resourceVersion = String(++version);
    },
    /** Grows with every write. */
    get version() {
      return String(version);
    },
    beforeEach(next: typeof before) {
      before = next;
    },
  };
}
/** Whether the API server is only asked what it would say. */
export const isDryRun = ({ query }: KubeCall): boolean => query?.dryRun !== undefined;
export type FakeApiServer = ReturnType<typeof fakeApiServer>;
