import { schemaOf } from "../../src/cli/manifests/schemas.ts";
import type { PlatformReader } from "../../src/diagnostics/reader.ts";
import { importAll } from "../../src/import/import.ts";

/** A platform that has these collections, by their path, and no others. */
export function platform(collections: Record<string, object[] | Error>): PlatformReader & { asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    async read({ url }) {
      const path = new URL(url).pathname.replace(/^\/cloudapi\/v6/, "");
      asked.push(url);
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
}

/** An import of all that such a platform has. */
export const imported = (collections: Record<string, object[]>, more: object = {}) =>
  importAll({
    platform: platform(collections),
    schemaOf,
    filter: { kinds: undefined, datacenters: undefined },
    manage: false,
    namespace: "shop",
    accountRef: undefined,
    sources: { signal: new AbortController().signal, progress: () => {} },
    ...more,
  });
