import type { KubeObject, ObjectMeta } from "../resource.ts";

/** Which words of others' metadata count. */
export interface Own {
  /** Labels and annotations whose names begin with it. */
  prefix: string;
  /** Labels with other names; all of them, where every label may count. */
  labels?: readonly string[] | "all";
}

/** So much of an object's own labels and annotations is kept, the shortest first: what Mooring writes is a tenth of it. */
const MOST_BYTES = 16_384;
/** So many finalizers are kept. */
const MOST_FINALIZERS = 20;
/** Stands for finalizers that were left out. */
const CUT = "example.invalid/cut";

/** Whether an object has more finalizers than are kept: who writes that list has to read it first. */
export const hasMoreFinalizers = ({ metadata }: KubeObject): boolean => metadata.finalizers?.includes(CUT) ?? false;

/** The first of these, by size, that fit. */
function within<V>(entries: [string, V][], sizeOf: (value: V) => number, most: number): Record<string, V> {
  const sized = entries.map((entry) => ({ entry, size: entry[0].length + sizeOf(entry[1]) }));
  if (sized.reduce((sum, { size }) => sum + size, 0) <= most) return Object.fromEntries(entries);
  let left = most;
  const fits = new Set<string>();
  for (const { entry, size } of sized.toSorted((a, b) => a.size - b.size)) {
    left -= size;
    if (left < 0) break;
    fits.add(entry[0]);
  }
  return Object.fromEntries(entries.filter(([name]) => fits.has(name)));
}

/**
 * What is kept of the metadata of an object that a watch shows. Anybody may write labels, annotations, owners and finalizers
 * into their own objects, a quarter of a megabyte and more each; who an object is and what Mooring says about it is small.
 */
export function reducedMetadata(metadata: ObjectMeta, { prefix, labels = [] }: Own, finalizer?: string): ObjectMeta {
  const { name, namespace, uid, resourceVersion, generation, creationTimestamp, deletionTimestamp } = metadata;
  const isLabel = (key: string) => labels === "all" || key.startsWith(prefix) || labels.includes(key);
  const own = (given: Record<string, string> | undefined, isOwn: (key: string) => boolean) =>
    within(
      Object.entries(given ?? {}).filter(([key]) => isOwn(key)),
      (value) => value.length,
      labels === "all" ? Number.POSITIVE_INFINITY : MOST_BYTES,
    );
  const all = metadata.finalizers;
  const isCut = all !== undefined && all.length > MOST_FINALIZERS;
  const finalizers = isCut ? [CUT, ...all.filter((each) => each === finalizer)] : all;
  const annotations = labels === "all" ? undefined : own(metadata.annotations, (key) => key.startsWith(prefix));
  return {
    name,
    ...(namespace !== undefined && { namespace }),
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
    ...(generation !== undefined && { generation }),
    ...(creationTimestamp !== undefined && { creationTimestamp }),
    ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    ...(finalizers && { finalizers }),
    ...(metadata.labels && { labels: own(metadata.labels, isLabel) }),
    ...(metadata.annotations && annotations && { annotations }),
  };
}

/** So much of the data of a Secret is kept, the shortest values first: a token has one or two KiB. */
const MOST_DATA = 65_536;

/** Of data the part that can hold credentials. */
export const reducedData = (data: unknown): Record<string, string> =>
  within(
    Object.entries(Object(data)).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
    (value) => value.length,
    MOST_DATA,
  );
