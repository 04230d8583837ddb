import { NoCluster } from "../../kube/client/config.ts";
import type { KubeClient } from "../../kube/client/transport.ts";
import { documentOf, exitCodeOf } from "../../plan/document.ts";
import { manifestsIn } from "../../plan/inputs/manifests.ts";
import { makePlan, type PlanAsked } from "../../plan/make.ts";
import { command } from "../frame/command.ts";
import { clusterFlags, outputFlag, platformFlags, selectorFlag, UsageError } from "../frame/flags.ts";
import { schemaOf } from "../manifests/schemas.ts";
import { readManifests } from "./files.ts";
import { markdownOf } from "./markdown.ts";
import { writePlan } from "./text.ts";

export const plan = command({
  name: "plan",
  summary: "what an apply of manifests would create, change, replace, adopt and delete, with prices",
  usage: ["-f FILE|DIR|- [OPTION…]", "-k DIR [OPTION…]"],
  description:
    "Decides as the operator does, from the manifests, the objects of the cluster and reads of the platform. Nothing is written: the API server gets dry runs, the platform only GETs. The operator need not be running. Without a cluster, the schemas and rules of the CRDs replace the API server, and MOORING_TOKEN and --platform or MOORING_ENDPOINTS give access to the platform.",
  examples: [
    ["mooring plan -f landscape.yaml", "what an apply of the file would do"],
    ["mooring plan -k overlays/production", "the same for a kustomization"],
    ["mooring plan -f manifests/ --prune -l app=shop", "with the deletion of objects that are in no file"],
    ["mooring plan -f landscape.yaml -o markdown", "for a comment on a pull request"],
  ],
  flags: {
    filename: {
      type: "string",
      short: "f",
      multiple: true,
      value: "FILE",
      completes: "file",
      help: "file or folder with manifests, or - for stdin; may be repeated",
    },
    kustomize: {
      type: "string",
      short: "k",
      value: "DIR",
      completes: "directory",
      help: "folder with a kustomization",
    },
    recursive: { type: "boolean", short: "R", help: "also subfolders of -f" },
    prune: { type: "boolean", help: "also delete objects that match -l and are in no file" },
    destroy: { type: "boolean", help: "what deleting all objects of the files would do" },
    offline: { type: "boolean", help: "use no cluster, only the files and the platform (MOORING_TOKEN)" },
    all: { type: "boolean", help: "also show unchanged objects" },
    ...selectorFlag,
    ...clusterFlags,
    ...platformFlags,
    ...outputFlag("table", "wide", "json", "yaml", "markdown"),
  },
  exitCodes: {
    0: "no change",
    1: "failed, or the API server would refuse an object, or you may not read it",
    2: "changes",
  },
  async run({ flags, args, screen, answer, sources, missing, cluster, client, platform, namespace, signal }) {
    if (args.length > 0) throw new UsageError(`unexpected "${args[0]}": name files with -f`);
    const folder = flags.text("kustomize");
    const names = flags.all("filename");
    if (folder === undefined && names.length === 0) throw new UsageError("-f or -k is needed");
    const prune = flags.on("prune") ? flags.text("selector") : undefined;
    if (flags.on("prune") && prune === undefined)
      throw new UsageError("--prune needs -l: the labels of the objects that belong to the files");
    if (!flags.on("prune") && flags.text("selector") !== undefined) throw new UsageError("-l is for --prune");
    if (flags.text("account") !== undefined && !flags.on("offline"))
      throw new UsageError("--account is for --offline: in a cluster, each object has its own Account");
    const texts = await readManifests({ names, recursive: flags.on("recursive"), folder }, signal);
    const open = async () => ({ reader: await cluster(), client: await client() });
    const reached = await reach(open, { offline: flags.on("offline"), isNamed: flags.text("context") !== undefined });
    const space = flags.text("namespace") ?? (reached.cluster && (await namespace())) ?? "default";
    const manifests = manifestsIn(texts, space);
    if (manifests.objects.length === 0) throw new Error("the files have no objects of Mooring");
    if (reached.why !== undefined && !flags.on("offline")) sources.missing?.(`cluster: ${reached.why}`);
    // Timers of the clock do not keep the process alive while it waits for the platform.
    const alive = setInterval(() => {}, 60_000);
    try {
      const asked = { manifests, cluster: reached.cluster, platform, schemaOf, prune, destroy: flags.on("destroy") };
      const document = documentOf(await makePlan({ ...asked, sources }));
      answer(document, () => {
        if (screen.format === "markdown")
          for (const line of markdownOf(document, missing).split("\n")) screen.line(line);
        else writePlan(screen, document, flags.on("all"));
      });
      return exitCodeOf(document);
    } finally {
      clearInterval(alive);
    }
  },
});

type Reached = Required<NonNullable<PlanAsked["cluster"]>> & { client: KubeClient };

/**
 * The cluster; undefined without a kubeconfig. A kubeconfig that cannot be read, or a cluster that does not answer, is an
 * error, because its objects would be missing from the plan.
 */
async function reach(open: () => Promise<Reached>, { offline, isNamed }: { offline: boolean; isNamed: boolean }) {
  if (offline) return { cluster: undefined, why: "--offline" };
  let cluster: Reached;
  try {
    cluster = await open();
  } catch (error) {
    if (error instanceof NoCluster && !isNamed) return { cluster: undefined, why: error.message };
    throw unreachable("", error);
  }
  try {
    await cluster.client.request({ method: "GET", path: "/version", deadlineMs: 10_000 });
  } catch (error) {
    throw unreachable("the cluster does not answer: ", error);
  }
  return { cluster, why: undefined };
}

const unreachable = (what: string, error: unknown): Error => {
  const why = error instanceof Error ? error.message : String(error);
  return new Error(`${what}${why}; --offline makes a plan of the files and the platform alone`, { cause: error });
};
