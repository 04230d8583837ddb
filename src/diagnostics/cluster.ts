import { KubeError } from "../kube/client/errors.ts";
import type { KubeClient } from "../kube/client/transport.ts";
import { type KubeObject, pathOf, type Resource, withoutManagedFields } from "../kube/resource.ts";

/** Read access to the Kubernetes API. */
export interface ClusterReader {
  /** The default namespace. */
  readonly namespace: string;
  /** One object; undefined if it does not exist. */
  find(
    resource: Resource,
    namespace: string | undefined,
    name: string,
    signal: AbortSignal,
  ): Promise<KubeObject | undefined>;
  /** All objects of a namespace, or of all namespaces. Empty for a kind that the cluster does not have. */
  list(resource: Resource, where: Where, signal: AbortSignal): Promise<KubeObject[]>;
  /** A GET of any path, or a review of the caller's own rights. */
  ask(path: string, signal: AbortSignal, review?: object): Promise<unknown>;
}

/** Reviews are POST requests that change nothing. */
const REVIEWS = /^\/apis\/(authentication|authorization)\.k8s\.io\/v1\/selfsubject\w+$/;
const REVIEW_DEADLINE_MS = 15_000;

export interface Where {
  namespace?: string | undefined;
  fieldSelector?: string | undefined;
  labelSelector?: string | undefined;
}

const PAGE = "500";

export function readCluster(client: Pick<KubeClient, "request" | "namespace">, namespace?: string): ClusterReader {
  const get = <T>(path: string, query: Record<string, string | undefined>, signal: AbortSignal) =>
    client.request<T>({ method: "GET", path, query, signal });
  return {
    namespace: namespace ?? client.namespace ?? "default",
    async find(resource, namespace, name, signal) {
      try {
        return withoutManagedFields(await get<KubeObject>(pathOf(resource, { namespace, name }), {}, signal));
      } catch (error) {
        if (error instanceof KubeError && error.status === 404) return undefined;
        throw error;
      }
    },
    async list(resource, { namespace, ...selectors }, signal) {
      const all: KubeObject[] = [];
      let next: string | undefined;
      do {
        const query = { limit: PAGE, continue: next, ...selectors };
        try {
          type Page = { items: KubeObject[]; metadata?: { continue?: string } };
          const page = await get<Page>(pathOf(resource, { namespace }), query, signal);
          all.push(...page.items);
          next = page.metadata?.continue || undefined;
        } catch (error) {
          if (error instanceof KubeError && error.status === 404) return [];
          throw error;
        }
      } while (next !== undefined);
      return all;
    },
    async ask(path, signal, review) {
      if (review && !REVIEWS.test(path)) throw new Error(`POST ${path} is not sent: it is not a review`);
      const call = { path, signal, deadlineMs: REVIEW_DEADLINE_MS };
      return client.request(review ? { ...call, method: "POST", body: review } : { ...call, method: "GET" });
    },
  };
}
