import { checkText } from "../diagnostics/manifest-text.ts";
import type { Sources } from "../diagnostics/sources.ts";
import { NoCluster } from "../kube/client/config.ts";
import { documentOf, type PlanDocument } from "./document.ts";
import { manifestsIn } from "./inputs/manifests.ts";
import { makePlan } from "./make.ts";

/** The plan of a manifest for callers who may only read, and not even send dry runs. */
export async function planQuestion(
  sources: Sources,
  asked: {
    manifest: string;
    namespace?: string | undefined;
    prune?: string | undefined;
    destroy?: boolean | undefined;
  },
): Promise<PlanDocument & { not_checked: string[] }> {
  const { signal, progress } = sources;
  checkText(asked.manifest);
  const schemaOf = await sources.schemas?.();
  if (!schemaOf) throw new Error("the schemas of the kinds are missing");
  const missing: string[] = [];
  const reader = await sources.cluster().catch((error: unknown) => {
    // A kubeconfig that cannot be read is an error: the objects of its cluster would be missing from the plan.
    if (!(error instanceof NoCluster)) throw error;
    missing.push(`cluster: ${error.message}`);
    return undefined;
  });
  const manifests = manifestsIn(
    [{ from: "manifest", text: asked.manifest }],
    asked.namespace ?? reader?.namespace ?? "default",
  );
  if (manifests.objects.length === 0)
    throw new Error("manifest: it has no objects of Mooring; give YAML with kind and spec");
  const plan = await makePlan({
    manifests,
    cluster: reader && { reader },
    platform: () => sources.platform(),
    schemaOf,
    prune: asked.prune,
    destroy: asked.destroy ?? false,
    sources: { signal, progress, missing: (what) => void missing.push(what) },
  });
  return { ...documentOf(plan), not_checked: missing };
}
