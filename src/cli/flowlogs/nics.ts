import { z } from "zod";
import { NotFound } from "../../platform/answers/errors.ts";
import type { Item } from "../../platform/collections/reading.ts";
import { coreCollection } from "../../platform/products/core.ts";
import { checked } from "../../platform/products/paging.ts";
import type { PlatformAccess } from "../platform-access.ts";

const serverShape = z.looseObject({
  properties: z.looseObject({ name: z.string().nullish() }),
  entities: z
    .looseObject({ nics: z.looseObject({ items: z.array(z.looseObject({ id: z.string() })).nullish() }).nullish() })
    .nullish(),
});

/** The NIC ids of every server with this name, in all datacenters. Throws if there is no such server. */
export async function nicsOf(access: PlatformAccess, name: string, signal: AbortSignal): Promise<string[]> {
  const api = access.endpoint("api");
  const connection = access.connection();
  const list = async (path: string, depth: number): Promise<Item[]> => {
    try {
      return await coreCollection(connection, api, path, { depth }).list(signal, "people");
    } catch (error) {
      // The datacenter may have been deleted meanwhile.
      if (error instanceof NotFound) return [];
      throw error;
    }
  };
  const named: string[][] = [];
  for (const { id } of await list("/datacenters", 0)) {
    const path = `/datacenters/${encodeURIComponent(id)}/servers`;
    for (const { raw } of await list(path, 3)) {
      const { properties, entities } = checked(serverShape, raw, api);
      if (properties.name === name) named.push((entities?.nics?.items ?? []).map((nic) => nic.id));
    }
  }
  if (named.length === 0) throw new Error(`--server: no datacenter has a server named "${name}"`);
  const nics = named.flat();
  if (nics.length === 0) throw new Error(`--server: server "${name}" has no NIC, and so no flow log`);
  return nics;
}
