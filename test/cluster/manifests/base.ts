export type Json = Record<string, unknown>;

/** A manifest that is accepted as it stands; the tables patch its spec. */
export interface Base {
  kind: string;
  spec: Json;
}

export const account: Base = {
  kind: "Account",
  spec: { endpoints: { api: "https://api.example.com" }, credentialsSecretRef: { name: "platform-token" } },
};

export const datacenter: Base = { kind: "Datacenter", spec: { location: "de/txl" } };

const server = (spec: Json): Base => ({
  kind: "Server",
  spec: { datacenterRef: { name: "berlin" }, ...spec },
});

export const dedicated = server({
  cores: 4,
  ram: 8192,
  bootVolume: { size: 20, type: "SSD Premium", imageAlias: "ubuntu:latest" },
  nics: [{ name: "public", lan: 1 }],
});

export const vcpu = server({ type: "VCPU", cores: 2, ram: 4096 });

export const cube = server({
  type: "CUBE",
  templateUuid: "72e73b81-8551-4e74-b398-fc63b39994af",
  bootVolume: { imageAlias: "ubuntu:latest" },
});

/** The base as an object, its spec changed by a JSON merge patch: null removes a field. */
export function manifest(base: Base, namespace: string, name: string, patch: unknown = {}) {
  return {
    apiVersion: "mooring.dev/v1alpha1",
    kind: base.kind,
    metadata: { namespace, name },
    spec: merge(base.spec, patch),
  };
}

function merge(target: unknown, patch: unknown): unknown {
  if (!isJson(patch)) return patch;
  const merged: Json = isJson(target) ? { ...target } : {};
  for (const [field, value] of Object.entries(patch)) {
    if (value === null) delete merged[field];
    else merged[field] = merge(merged[field], value);
  }
  return merged;
}

function isJson(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
