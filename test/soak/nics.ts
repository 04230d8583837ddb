import { z } from "zod";
import { readStatus } from "../../src/engine/status/status.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import type { Found } from "../cluster/steering.ts";

const listed = z.looseObject({ spec: z.looseObject({ nics: z.array(z.unknown()) }) });

/** Servers with more NICs than they list. A NIC has no object, and adding it twice creates two. */
export function surplusNics(servers: readonly KubeObject[], nics: readonly Found[]): string[] {
  return servers.flatMap((server) => {
    const { success, data } = listed.safeParse(server);
    const { id } = readStatus(server);
    const found = nics.filter(({ serverId }) => serverId === id).length;
    const { namespace, name } = server.metadata;
    if (!success || found <= data.spec.nics.length) return [];
    return [`Server ${namespace}/${name} has ${found} NICs instead of ${data.spec.nics.length}`];
  });
}
