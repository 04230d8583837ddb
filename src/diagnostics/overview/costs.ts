import { readStatus } from "../../engine/status/status.ts";
import type { KubeObject } from "../../kube/resource.ts";
import { basis, catalogue, currencyOf, type Product, priceOf, sumOf } from "../cost.ts";
import { allObjects } from "../objects.ts";
import type { PlatformReader } from "../reader.ts";
import { attempt, type Sources } from "../sources.ts";
import type { Grouping } from "./groupings.ts";

interface Item {
  object: string;
  kind: string;
  group: string;
  per_month: number;
  priced: boolean;
}

/** The monthly cost of the objects in the cluster by the price catalogues of their contracts, in groups. */
export async function costs(
  sources: Sources,
  asked: { namespace?: string | undefined; selector?: string | undefined; by: Grouping },
  platformOf: (account: string | undefined) => Promise<PlatformReader> = sources.platform,
) {
  const all = [...(await allObjects(sources, asked.namespace, undefined, asked.selector)).values()];
  const missing: string[] = [];
  const catalogues = new Map<string, Product[] | undefined>();
  async function pricesOf(account: string): Promise<Product[] | undefined> {
    if (!catalogues.has(account)) {
      catalogues.set(account, undefined);
      await attempt(sources, `prices of ${account}`, missing, async () => {
        catalogues.set(account, await catalogue(await platformOf(account), sources.signal));
      });
    }
    return catalogues.get(account);
  }
  const items: Item[] = [];
  for (const { kind, key, object } of all) {
    const { account, id } = readStatus(object);
    // An object without a resource costs nothing yet.
    if (account === undefined || id === undefined) continue;
    const prices = await pricesOf(account);
    const price = prices && priceOf(prices, kind.kind, object.spec);
    const group = { namespace: object.metadata.namespace ?? "", owner: ownerOf(object), kind: kind.kind }[asked.by];
    const isPriced = price !== undefined && price.lines.length > 0 && price.lines.every((line) => !("note" in line));
    items.push({ object: key, kind: kind.kind, group, per_month: price?.per_month ?? 0, priced: isPriced });
  }
  if (items.length > 0 && [...catalogues.values()].every((each) => each === undefined)) {
    throw new Error(`no price catalogue could be read: ${missing.join("; ")}`);
  }
  const names = [...new Set(items.map(({ group }) => group))];
  const groups = names.map((name) => {
    const members = items.filter(({ group }) => group === name);
    return {
      [asked.by]: name,
      name,
      objects: members.length,
      priced: members.some(({ priced }) => priced),
      per_month: sumOf(members),
    };
  });
  const [prices = []] = [...catalogues.values()].filter((each) => each !== undefined);
  return {
    groups: groups.sort((a, b) => b.per_month - a.per_month || a.name.localeCompare(b.name)),
    items: items.sort((a, b) => b.per_month - a.per_month || a.object.localeCompare(b.object)),
    per_month: sumOf(items),
    currency: currencyOf(prices),
    not_priced: notPricedOf(items),
    basis,
    ...(missing.length > 0 && { not_checked: missing }),
  };
}

const MOST_NAMES = 10;

/** A kind of which nothing is priced, else its objects that are not: one Volume may have no price, and the others one. */
function notPricedOf(items: readonly Item[]): string[] {
  const byKind = [...Map.groupBy(items, ({ kind }) => kind)].sort(([a], [b]) => a.localeCompare(b));
  return byKind.flatMap(([kind, members]) => {
    const others = members.filter(({ priced }) => !priced).map(({ object }) => object);
    if (others.length === members.length) return [kind];
    const more = others.length - MOST_NAMES;
    const names = others.sort((a, b) => a.localeCompare(b)).slice(0, MOST_NAMES);
    return more > 0 ? [...names, `${more} more of kind ${kind}`] : names;
  });
}

/** The owner of an object: its controller, else the one that Flux, Helm or Argo CD recorded. */
export function ownerOf({ metadata }: KubeObject): string {
  const { ownerReferences = [], labels = {}, annotations = {} } = metadata;
  const controller = ownerReferences.find((each) => each.controller) ?? ownerReferences[0];
  if (controller) return `${controller.kind}/${controller.name}`;
  const named = (kind: string, name: string | undefined) => (name ? `${kind}/${name}` : undefined);
  return (
    named("Kustomization", labels["kustomize.toolkit.fluxcd.io/name"]) ??
    named("HelmRelease", labels["helm.toolkit.fluxcd.io/name"]) ??
    named("Release", annotations["meta.helm.sh/release-name"]) ??
    named("Application", labels["argocd.argoproj.io/instance"] ?? labels["app.kubernetes.io/instance"]) ??
    "none"
  );
}
