/** The label that tells which cluster has created a resource of the core API. */
import { z } from "zod";
import type { Connection } from "../calls/connection.ts";
import { PartialList } from "../collections/reading.ts";
import { corePageSize, coreUrl } from "./core-url.ts";
import { type ReadOptions, readPages } from "./paging.ts";

export const CLUSTER_LABEL = "mooring-cluster";

/** The type of a resource in the platform's answers, and its id. */
export const labelHolder = (type: string, id: string): string => `${type}/${id}`;

const labelShape = z.looseObject({
  properties: z.looseObject({
    key: z.literal(CLUSTER_LABEL),
    value: z.string(),
    resourceId: z.string(),
    resourceType: z.string(),
  }),
});

/** The clusters that all resources of the contract are labelled with, by `labelHolder`. */
export async function readClusterLabels(
  connection: Connection,
  api: string,
  options: ReadOptions = {},
): Promise<Map<string, string>> {
  const query = { depth: "1", pretty: "false" };
  const read = (item: unknown) => labelShape.safeParse(item).data?.properties;
  const size = { items: corePageSize };
  // Labels of other keys belong to others, who may give them any name.
  const labels = await readPages(connection, coreUrl(api, "/labels"), query, size, options, read).catch(
    (error: unknown): readonly ReturnType<typeof read>[] => {
      if (error instanceof PartialList) return error.items;
      throw error;
    },
  );
  return new Map(
    labels.flatMap((each) => (each ? [[labelHolder(each.resourceType, each.resourceId), each.value]] : [])),
  );
}

/** The body that labels a resource with a cluster. */
export const clusterLabel = (cluster: string): object => ({ properties: { key: CLUSTER_LABEL, value: cluster } });

/** Resources without a label, those that were refused last come last. A label with any value stays as it is. */
export const unlabelled = <Wanted extends { holder: string }>(
  wanted: readonly Wanted[],
  found: ReadonlySet<string>,
  refusals: ReadonlyMap<string, number>,
): Wanted[] =>
  wanted
    .filter(({ holder }) => !found.has(holder))
    .sort((a, b) => (refusals.get(a.holder) ?? 0) - (refusals.get(b.holder) ?? 0));
