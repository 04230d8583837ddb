import { describe, expect, it } from "vitest";
import { orphanReport } from "../../src/diagnostics/orphans.ts";
import type { PlatformReader } from "../../src/diagnostics/reader.ts";
import type { Sources } from "../../src/diagnostics/sources.ts";
import { Forbidden, NotFound } from "../../src/platform/answers/errors.ts";

const DATACENTER = "11111111-1111-4111-8111-111111111111";
const SERVER = "22222222-2222-4222-8222-222222222222";
const NIC = "33333333-3333-4333-8333-333333333333";
const FLOW_LOG = "44444444-4444-4444-8444-444444444444";

const item = (id: string, more: object = {}) => ({ id, properties: { name: id.slice(0, 1) }, metadata: {}, ...more });
const servers = `/datacenters/${DATACENTER}/servers`;
const flowLogs = `${servers}/${SERVER}/nics/${NIC}/flowlogs`;
const contents = {
  "/datacenters": [item(DATACENTER)],
  [servers]: [item(SERVER, { entities: { nics: { items: [item(NIC)] } } })],
  [flowLogs]: [item(FLOW_LOG)],
};

/** A contract with these collections and no others, and a cluster without objects. */
function sourcesOver(collections: Record<string, object[] | Error>): Sources {
  const platform: PlatformReader = {
    async read({ url }) {
      const path = new URL(url).pathname.replace(/^\/cloudapi\/v6/, "");
      const items = collections[path] ?? [];
      if (items instanceof Error) throw items;
      return { status: 200, headers: {}, body: { id: path, items, offset: 0, limit: 1000, count: items.length } };
    },
    endpoint: (name) => `https://${name}.example`,
    has: () => true,
    identity: undefined,
    contractNumber: 1,
    now: () => 0,
    storageKeys: () => Promise.reject(new Error("no keys")),
    storageRegion: undefined,
  };
  const none = async () => [];
  return {
    platform: async () => platform,
    cluster: async () => ({ list: none, find: async () => undefined, namespace: "default" }) as never,
    now: () => 0,
    signal: new AbortController().signal,
    progress: () => {},
  };
}

const refused = { call: "GET", status: 403, detail: "no" };

describe("orphans", () => {
  it("are found wherever they are, also in resources of other kinds", async () => {
    const { without_object, checked } = await orphanReport(sourcesOver(contents));
    expect(without_object.map(({ kind, id }) => [kind, id])).toEqual([
      ["Datacenter", DATACENTER],
      ["Server", SERVER],
      ["FlowLog", FLOW_LOG],
    ]);
    expect(without_object.at(-1)).toMatchObject({
      datacenter: DATACENTER,
      delete: `DELETE ${flowLogs}/${FLOW_LOG} (core)`,
    });
    expect(checked).toContain("FlowLog");
  });

  it.each([
    ["may not be read", new Forbidden(refused)],
    ["is not found, as behind a wrong base path", new NotFound({ ...refused, status: 404 })],
  ])("a kind whose list %s is not checked, nor what is in it", async (_, error) => {
    const { checked, not_checked, without_resource } = await orphanReport(
      sourcesOver({ ...contents, "/datacenters": error }),
    );
    expect(checked).not.toContain("Datacenter");
    expect(checked).not.toContain("Server");
    expect(checked).toContain("IPBlock");
    expect(not_checked.map(({ kind }) => kind)).toEqual(expect.arrayContaining(["Datacenter", "Server"]));
    expect(without_resource).toEqual([]);
  });
});
