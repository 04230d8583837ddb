import { kinds } from "../../src/kinds/index.ts";

const inNoNamespace = new Set([
  "namespaces",
  ...kinds.filter(({ scope }) => scope === "Cluster").map(({ plural }) => plural),
]);

/**
 * Lets an operator for all namespaces see one, as if its API server had no other: lists and watches of everything are of
 * that namespace, and what belongs to none is the one object of that name. So operators that are killed do not meet.
 */
export const narrowedTo =
  (namespace: string) =>
  (url: string): string => {
    const { pathname, search, searchParams } = new URL(url, "http://operator");
    const [, root, plural] = /^(\/apis?\/(?:[^/]+\/)?v[^/]+)\/([^/]+)$/.exec(pathname) ?? [];
    if (root === undefined || plural === undefined) return url;
    if (!inNoNamespace.has(plural)) return `${root}/namespaces/${namespace}/${plural}${search}`;
    searchParams.set("fieldSelector", `metadata.name=${namespace}`);
    return `${pathname}?${searchParams}`;
  };
