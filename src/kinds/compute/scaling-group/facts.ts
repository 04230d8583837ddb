import { z } from "zod";
import type { FactsContext, Inputs, Shown } from "../../desired.ts";
import { fingerprint } from "../../fields/bounded.ts";
import { known } from "../../fields/compare.ts";
import { secondsOf } from "../../fields/duration.ts";
import { nicsOf, wire as wireServer } from "../server/wire.ts";

const time = (what: string) => z.string().optional().describe(what);

export const groupStatus = z.object({
  replicas: z.int().optional().describe("Number of replicas."),
  minReplicas: z.int().optional().describe("Minimum number of replicas on the platform."),
  maxReplicas: z.int().optional().describe("Maximum number of replicas on the platform."),
  servers: z
    .array(
      z.object({
        name: z.string().describe("Name of the replica; not an id."),
        serverId: z.string().optional().describe("Platform id of its server."),
        nics: z
          .array(
            z.object({
              name: z.string().optional().describe("Name of the NIC."),
              ips: z.array(z.string()).optional().describe("IPv4 addresses."),
              ipv6Ips: z.array(z.string()).optional().describe("IPv6 addresses."),
            }),
          )
          .optional()
          .describe("NICs of its server that have addresses; only if spec.output is set."),
      }),
    )
    .optional()
    .describe("Replicas and their servers."),
  actions: z
    .array(
      z.object({
        type: z.string().describe("SCALE_IN or SCALE_OUT."),
        status: z.string().describe("IN_PROGRESS, SUCCESSFUL or FAILED."),
        startedAt: time("When it started."),
      }),
    )
    .optional()
    .describe("The last actions, newest first."),
  nextActionAt: time("When the cooldown of the last action ends; absent once it is over."),
  replicaConfiguration: z
    .object({
      hash: z.string().describe("Hash of the template."),
      since: time("When it was set."),
      old: z.int().describe("Number of replicas with an older template."),
    })
    .optional()
    .describe("Template of new replicas, and how many replicas are older."),
});

const dated = z.looseObject({ createdDate: z.string().nullish(), lastModifiedDate: z.string().nullish() }).nullish();
const replica = z.looseObject({
  metadata: dated,
  properties: z
    .looseObject({
      name: z.string().nullish(),
      datacenterServer: z.looseObject({ id: z.string().nullish() }).nullish(),
    })
    .nullish(),
});
const action = z.looseObject({
  metadata: dated,
  properties: z.looseObject({ actionStatus: z.string(), actionType: z.string() }).nullish(),
});
const cooled = z.looseObject({ cooldownPeriod: z.string().nullish() }).nullish();
const wire = z.looseObject({
  metadata: dated,
  properties: z.looseObject({
    minReplicaCount: z.int().nullish(),
    maxReplicaCount: z.int().nullish(),
    policy: z.looseObject({ scaleInAction: cooled, scaleOutAction: cooled }).nullish(),
    replicaConfiguration: z.unknown().optional(),
  }),
  entities: z
    .looseObject({
      servers: z.looseObject({ items: z.array(replica).nullish() }).nullish(),
      actions: z.looseObject({ items: z.array(action).nullish() }).nullish(),
    })
    .nullish(),
});
type WireGroup = z.output<typeof wire>;
const MOST_ACTIONS = 5;

export const replicasOf = (item: unknown) => wire.parse(item).entities?.servers?.items ?? [];

export const serverIdsOf = (item: unknown): string[] =>
  replicasOf(item).flatMap(({ properties }) => properties?.datacenterServer?.id ?? []);

/** The addresses of a replica's server; those in status until the server has been read. */
export function nicsOfReplica(serverId: string, { shown, related }: Pick<Inputs, "shown" | "related">) {
  if (!related) return [];
  if (!related.has(serverId)) {
    const before = groupStatus.shape.servers.safeParse(shown.servers).data ?? [];
    return before.find((each) => each.serverId === serverId)?.nics ?? [];
  }
  const server = wireServer.safeParse(related.get(serverId)).data;
  return (server ? nicsOf(server) : []).flatMap(({ properties }) => {
    const { name, ips, ipv6Ips } = properties ?? {};
    return ips?.length || ipv6Ips?.length ? [{ name, ips, ipv6Ips }] : [];
  });
}

/** Newest first. Actions that the list shows only by id are skipped. */
function actionsOf({ entities }: WireGroup) {
  const complete = (entities?.actions?.items ?? []).flatMap(({ metadata, properties }) =>
    properties ? [{ ...properties, startedAt: metadata?.createdDate ?? "" }] : [],
  );
  return complete.toSorted((a, b) => b.startedAt.localeCompare(a.startedAt));
}

/** The end of the cooldown, if it is not over. */
function cooldownEnd(group: WireGroup, platformNow: number): string | undefined {
  const [last] = actionsOf(group);
  const { scaleInAction, scaleOutAction } = group.properties.policy ?? {};
  const rule = last?.actionType === "SCALE_IN" ? scaleInAction : scaleOutAction;
  const began = Date.parse(last?.startedAt ?? "");
  const end = began + (secondsOf(rule?.cooldownPeriod ?? "PT5M") ?? 300) * 1000;
  return end > platformNow ? new Date(end).toISOString() : undefined;
}

export function cooldownEnds({ nextActionAt }: Shown): number | undefined {
  const end = Date.parse(String(nextActionAt));
  return Number.isNaN(end) ? undefined : end;
}

/** The platform does not report when the configuration changed. Mooring notices it by another hash. */
function configurationOf(group: WireGroup, shown: Inputs["shown"]) {
  const hash = fingerprint(JSON.stringify(group.properties.replicaConfiguration ?? null));
  const before = groupStatus.shape.replicaConfiguration.safeParse(shown.replicaConfiguration).data;
  const changedAt = before && before.hash !== hash ? group.metadata?.lastModifiedDate : before?.since;
  const old = (group.entities?.servers?.items ?? []).filter(
    ({ metadata }) => changedAt != null && (metadata?.createdDate ?? "") < changedAt,
  );
  return { hash, old: old.length, ...(changedAt != null && { since: changedAt }) };
}

type Context = Pick<FactsContext, "shown" | "related" | "platformNow">;

export function groupFacts(item: unknown, context: Context): Record<string, unknown> {
  const { platformNow = Number.POSITIVE_INFINITY } = context;
  const group = wire.parse(item);
  const { minReplicaCount, maxReplicaCount } = group.properties;
  const servers = replicasOf(item);
  return {
    replicas: servers.length,
    ...known({
      minReplicas: minReplicaCount,
      maxReplicas: maxReplicaCount,
      servers: servers.flatMap(({ properties }) => {
        const { name, datacenterServer } = properties ?? {};
        const serverId = datacenterServer?.id;
        const nics = serverId == null ? [] : nicsOfReplica(serverId, context).map(known);
        return name == null ? [] : [known({ name, serverId, nics })];
      }),
      actions: actionsOf(group)
        .slice(0, MOST_ACTIONS)
        .map(({ actionType, actionStatus, startedAt }) =>
          known({ type: actionType, status: actionStatus, startedAt: startedAt || undefined }),
        ),
      nextActionAt: cooldownEnd(group, platformNow),
    }),
    replicaConfiguration: configurationOf(group, context.shown),
  };
}
