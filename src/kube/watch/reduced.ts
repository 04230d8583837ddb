import type { KubeObject, ObjectMeta } from "../resource.ts";

/** Which labels and annotations are kept. */
export interface Own {
  /** Labels and annotations with this prefix are kept. */
  prefix: string;
  /** Other labels that are kept. "all" where any label may matter: then labels have no size limit, and no annotation is kept. */
  labels?: readonly string[] | "all";
}

/** The maximum size of kept labels, and of kept annotations; the shortest are kept first. Mooring writes a tenth of this. */
const MOST_BYTES = 16_384;
/** The maximum number of kept finalizers. */
const MOST_FINALIZERS = 20;
/** Marks that finalizers were left out. */
const CUT = "example.invalid/cut";

/** Whether the kept list of finalizers is incomplete. A writer of that list must read the object first. */
export const hasMoreFinalizers = ({ metadata }: KubeObject): boolean => metadata.finalizers?.includes(CUT) ?? false;

/** The smallest entries that fit into `most` bytes together. */
function fitting(entries: [string, string][], most: number): Record<string, string> {
  const sized = entries.map((entry) => ({ entry, size: Buffer.byteLength(entry[0]) + Buffer.byteLength(entry[1]) }));
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
 * The part of an object's metadata that is kept in the cache. Users can write labels, annotations, owners and finalizers of a
 * quarter of a megabyte and more into each object; the identity and what Mooring writes are small.
 */
export function reducedMetadata(metadata: ObjectMeta, { prefix, labels = [] }: Own, finalizer?: string): ObjectMeta {
  const { name, namespace, uid, resourceVersion, generation, creationTimestamp, deletionTimestamp } = metadata;
  const isKeptLabel = (key: string) => labels === "all" || key.startsWith(prefix) || labels.includes(key);
  const kept = (given: Record<string, string> | undefined, isKept: (key: string) => boolean) =>
    fitting(
      Object.entries(given ?? {}).filter(([key]) => isKept(key)),
      labels === "all" ? Number.POSITIVE_INFINITY : MOST_BYTES,
    );
  const all = metadata.finalizers;
  const isCut = all !== undefined && all.length > MOST_FINALIZERS;
  const finalizers = isCut ? [CUT, ...all.filter((each) => each === finalizer)] : all;
  const annotations = labels === "all" ? undefined : kept(metadata.annotations, (key) => key.startsWith(prefix));
  return {
    name,
    ...(namespace !== undefined && { namespace }),
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
    ...(generation !== undefined && { generation }),
    ...(creationTimestamp !== undefined && { creationTimestamp }),
    ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    ...(finalizers && { finalizers }),
    ...(metadata.labels && { labels: kept(metadata.labels, isKeptLabel) }),
    ...(metadata.annotations && annotations && { annotations }),
  };
}

/** The maximum size of kept Secret data, the shortest values first. A token has one or two KiB. */
const MOST_DATA = 65_536;

/** The part of the data that can hold credentials. */
export const reducedData = (data: unknown): Record<string, string> =>
  fitting(
    Object.entries(Object(data)).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
    MOST_DATA,
  );
