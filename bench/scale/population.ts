import { resourceOf } from "../../src/engine/state/object.ts";
import { GROUP, kinds, VERSION } from "../../src/kinds/index.ts";
import type { KubeClient } from "../../src/kube/client/transport.ts";
import { type KubeObject, pathOf, type Resource } from "../../src/kube/resource.ts";

export const NAMESPACE = "bench";

const resourceCalled = (name: string): Resource => {
  const kind = kinds.find((each) => each.kind === name);
  if (!kind) throw new Error(`there is no kind ${name}`);
  return resourceOf(kind);
};
export const resources = { datacenter: resourceCalled("Datacenter"), server: resourceCalled("Server") };

const object = (kind: string, name: string, spec: object, namespace: string): KubeObject => ({
  apiVersion: `${GROUP}/${VERSION}`,
  kind,
  metadata: { name, namespace },
  spec,
});

export const datacenter = (name: string, namespace = NAMESPACE): KubeObject =>
  object("Datacenter", name, { location: "de/txl" }, namespace);

/** A small Server with a disk and a public address, as most are. */
export const server = (name: string, parent: string, namespace = NAMESPACE): KubeObject =>
  object(
    "Server",
    name,
    {
      datacenterRef: { name: parent },
      cores: 1,
      ram: 2048,
      bootVolume: { size: 10, type: "SSD Standard", imageAlias: "ubuntu:latest" },
      nics: [{ name: "public", lan: 1 }],
    },
    namespace,
  );

export interface Population {
  datacenters: KubeObject[];
  servers: KubeObject[];
}

const numbered = (count: number, prefix: string) => Array.from({ length: count }, (_, index) => `${prefix}-${index}`);

/** So many objects in all; the Servers are spread over the Datacenters. */
export function populationOf(objects: number, homes = objects < 200 ? 2 : 20): Population {
  const parents = numbered(homes, "dc");
  return {
    datacenters: parents.map((name) => datacenter(name)),
    servers: numbered(objects - homes, "server").map((name, index) => server(name, parents[index % homes] ?? "")),
  };
}

export const allOf = ({ datacenters, servers }: Population): KubeObject[] => [...datacenters, ...servers];

const AT_ONCE = 8;

/** Does something with each, a few at a time. */
export async function each<T>(
  items: readonly T[],
  act: (item: T) => Promise<unknown>,
  atOnce = AT_ONCE,
): Promise<void> {
  const rest = items[Symbol.iterator]();
  const work = async () => {
    for (const item of rest) await act(item);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}

const resourceFor = ({ kind }: KubeObject): Resource => (kind === "Server" ? resources.server : resources.datacenter);

export const pathTo = (object: KubeObject, subresource?: string): string => {
  const { name, namespace } = object.metadata;
  return pathOf(resourceFor(object), { name, namespace, subresource });
};

export const create = (client: KubeClient, objects: readonly KubeObject[]): Promise<void> =>
  each(objects, (body) =>
    client.request({
      method: "POST",
      path: pathOf(resourceFor(body), { namespace: body.metadata.namespace }),
      body,
    }),
  );

export const edit = (client: KubeClient, objects: readonly KubeObject[], spec: object): Promise<void> =>
  each(objects, (object) =>
    client.request({
      method: "PATCH",
      path: pathTo(object),
      contentType: "application/merge-patch+json",
      body: { spec },
    }),
  );

/** Asks for their deletion, Servers before the Datacenters that they are in: both operators have the same to do. Nobody waits. */
export const remove = (client: KubeClient, objects: readonly KubeObject[]): Promise<void> =>
  each(objects.toReversed(), (object) => client.request({ method: "DELETE", path: pathTo(object) }));
