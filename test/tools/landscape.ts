import { expect } from "vitest";
import { z } from "zod";
import { openSources } from "../../src/cli/tools/sources.ts";
import type { ClusterReader } from "../../src/diagnostics/cluster.ts";
import type { Sources } from "../../src/diagnostics/sources.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import { perform } from "../../src/tools/perform.ts";
import type { Row } from "../../src/tools/table/row.ts";
import { table } from "../../src/tools/table/table.ts";
import { type Platform, startPlatform } from "../simulator/platform.ts";

/** Values that no result may contain. Each is on the platform or in the cluster, where a tool could find it. */
export const canaries = [
  "canary-secret",
  "canaryPassword1",
  "canary-user-data",
  Buffer.from("#!canary-user-data").toString("base64"),
];

export type Landscape = Awaited<ReturnType<typeof buildLandscape>>;

/** A contract with at least one of every resource, objects for some of them, and a caller of tools. */
export async function buildLandscape() {
  const platform = await startPlatform({ demoData: true });
  const { token, endpoints, s3, contractNumber } = platform.ready;
  const env = {
    MOORING_TOKEN: token,
    MOORING_ENDPOINTS: JSON.stringify(endpoints),
    MOORING_S3_ACCESS_KEY: s3.accessKey,
    MOORING_S3_SECRET_KEY: s3.secretKey,
    MOORING_REGION: "de/fra",
  };
  const settings = { account: undefined, namespace: undefined, kubeconfig: undefined, tokenFile: undefined };
  const opened = openSources(settings, env);
  let objects: KubeObject[] = [];
  const sources: Sources = {
    platform: opened.platform,
    cluster: async () => clusterOf(objects),
    now: Date.now,
    ...(opened.schemas && { schemas: opened.schemas }),
    signal: new AbortController().signal,
    progress: () => {},
  };
  const call = (name: string, args: unknown = {}) => perform(rowOf(name), args, sources);
  const argumentsFor = finder(call);
  await hideSecrets(platform, await argumentsFor(rowOf("get_server")));
  objects = objectsOf(await argumentsFor(rowOf("get_server")), contractNumber);
  return {
    platform,
    /** With these variables, another tool server reads the same contract. */
    env,
    objects,
    call,
    secrets: [token, s3.secretKey, platform.ready.password, ...canaries],
    argumentsFor,
    async close() {
      await opened[Symbol.asyncDispose]();
      await platform.close();
    },
  };
}

/** Puts the canaries on the platform, whose log shows them. */
async function hideSecrets(platform: Platform, { datacenter_id: datacenter }: Record<string, unknown>): Promise<void> {
  const volume = {
    name: "hidden",
    size: 10,
    type: "HDD",
    imageAlias: "ubuntu:latest",
    imagePassword: "canaryPassword1",
  };
  const userData = Buffer.from("#!canary-user-data").toString("base64");
  const made = await platform.core("POST", `/datacenters/${datacenter}/volumes`, {
    properties: { ...volume, userData },
  });
  expect(made, JSON.stringify(made.body)).toMatchObject({ status: 202 });
  const externalAccountBinding = { keyId: "account-1", keySecret: "canary-secret" };
  const acme = { name: "hidden", email: "tls@example.org", server: "https://acme.example/directory" };
  const properties = { ...acme, externalAccountBinding };
  expect(await platform.call("POST", "/certificate-manager/providers", { properties })).toMatchObject({ status: 201 });
  await platform.advance(60);
}

export function rowOf(name: string): Row {
  const row = table.find((each) => each.name === name);
  if (!row) throw new Error(`there is no tool ${name}`);
  return row;
}

/** Objects as the operator would write them. */
function objectsOf(ids: Record<string, unknown>, contract: number): KubeObject[] {
  const object = (kind: string, name: string, spec: object, status: object, ready = "Available"): KubeObject => ({
    apiVersion: "mooring.dev/v1alpha1",
    kind,
    metadata: {
      name,
      namespace: "shop",
      labels: { of: kind },
      uid: `${kind}-${name}`,
      creationTimestamp: new Date().toISOString(),
    },
    spec,
    status: {
      ...status,
      conditions: [
        {
          type: "Ready",
          status: ready === "Available" ? "True" : "False",
          reason: ready,
          message: `it is ${ready}`,
          lastTransitionTime: new Date().toISOString(),
        },
      ],
    },
  });
  const account = { account: "shop/main", contract };
  const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
  const issued = { version: 1, issuedAt: new Date().toISOString(), fingerprint: "ab" };
  const dc = { datacenterRef: { name: "prod" } };
  const parents = { datacenter: String(ids.datacenter_id) };
  return [
    object("Account", "main", { credentialsSecretRef: { name: "t" } }, { tokenExpiresAt: expiresAt }),
    object("Datacenter", "prod", { location: "de/fra" }, { ...account, id: parents.datacenter }),
    object("Server", "web", { ...dc, cores: 4, ram: 4096 }, { ...account, id: ids.server_id, parents }),
    object("Volume", "data", { ...dc, attachTo: { serverRef: { name: "db" } } }, account, "ReferenceNotReady"),
    object("Server", "db", { ...dc, nics: [{ name: "a", lanRef: { name: "back" } }] }, account, "ReferenceNotFound"),
    object(
      "IPBlock",
      "gone",
      { location: "de/fra", size: 1 },
      { ...account, id: "11111111-1111-4111-8111-111111111111" },
    ),
    object(
      "Lan",
      "front",
      { ...dc, public: true },
      { ...account, id: "1", parents, drift: [{ field: "public", wanted: "true", found: "false" }] },
    ),
    object("AccessToken", "ci", {}, { ...account, id: "t", key: { ...issued, expiresAt } }),
  ];
}

/** A cluster as a list of objects, for tests that do not need a real one. */
export function clusterOf(objects: readonly KubeObject[]): ClusterReader {
  return {
    namespace: "shop",
    find: async ({ kind }, namespace, name) =>
      objects.find(
        ({ kind: its, metadata }) => its === kind && metadata.namespace === namespace && metadata.name === name,
      ),
    async list({ kind }, { namespace, labelSelector = "" }) {
      const [label = "", value] = labelSelector.split("=");
      // An object without labels matches every selector: only some tests are about labels.
      const isSelected = ({ labels }: KubeObject["metadata"]) => label === "" || !labels || labels[label] === value;
      return objects.filter(
        ({ kind: its, metadata }) =>
          its === kind && (namespace ?? metadata.namespace) === metadata.namespace && isSelected(metadata),
      );
    },
    ask: async (path) => {
      throw new Error(`${path}: not here`);
    },
  };
}

const page = z.looseObject({
  items: z.array(z.looseObject({ id: z.union([z.string(), z.number()]) })).optional(),
  Buckets: z.array(z.looseObject({ Name: z.string() })).optional(),
  Contents: z.array(z.looseObject({ Key: z.string() })).optional(),
  invoices: z.array(z.looseObject({ id: z.string() })).optional(),
  companies: z.array(z.looseObject({ contractId: z.string() })).optional(),
});

/** Arguments that no answer contains. */
const words: Record<string, unknown> = {
  period: new Date().toISOString().slice(0, 7),
  date: new Date().toISOString().slice(0, 10),
  filter: "core",
  // The other bucket has flow logs and no settings.
  bucket: "shop-assets",
  kind: "Server",
  name: "web",
  manifest:
    "apiVersion: mooring.dev/v1alpha1\nkind: Server\nmetadata: {name: a}\nspec: {cores: 2, ram: 4096, cpuFamily: AMD_EPYC}\n",
};

/** Finds arguments for any row like a client: with the tool that the description of an argument names. */
function finder(call: (name: string, args?: unknown) => ReturnType<typeof perform>) {
  const known = new Map<string, unknown>();

  async function found(name: string, schema: z.ZodType, others: Record<string, unknown>): Promise<unknown> {
    if (Object.hasOwn(words, name)) return words[name];
    const [, tool] = /from ((?:list|get)_\w+)/.exec(schema.description ?? "") ?? [];
    if (tool === undefined) throw new Error(`nobody says where ${name} comes from`);
    const needed = Object.keys(rowOf(tool).args.shape).filter((each) => Object.hasOwn(others, each));
    const args = Object.fromEntries(needed.map((each) => [each, others[each]]));
    const asked = `${tool} ${JSON.stringify(args)}`;
    if (!known.has(asked)) {
      const { structuredContent, content } = await call(tool, args);
      const { items: listed, Buckets, Contents, invoices, companies } = page.parse(structuredContent ?? {});
      const first =
        listed?.[0]?.id ?? Buckets?.[0]?.Name ?? Contents?.[0]?.Key ?? invoices?.[0]?.id ?? companies?.[0]?.contractId;
      if (first === undefined) throw new Error(`${tool} has nothing: ${content[0]?.text}`);
      known.set(asked, String(first));
    }
    return known.get(asked);
  }

  return async (row: Row): Promise<Record<string, unknown>> => {
    const args: Record<string, unknown> = {};
    for (const [name, schema] of Object.entries(row.args.shape)) {
      if (schema instanceof z.ZodType && !schema.safeParse(undefined).success)
        args[name] = await found(name, schema, args);
    }
    return args;
  };
}
