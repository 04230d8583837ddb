import { allObjects, type MooringObject, objectNamed } from "../../../diagnostics/objects.ts";
import { PAUSED, RECONCILE_AT, ROTATE_AT } from "../../../engine/state/names.ts";
import { observes, resourceOf } from "../../../engine/state/object.ts";
import type { Kind } from "../../../kinds/kind.ts";
import { pathOf } from "../../../kube/resource.ts";
import { type Context, command, type PeopleCommand } from "../../frame/command.ts";
import { clusterFlags, everywhereFlag, selectorFlag, UsageError, usualOutput } from "../../frame/flags.ts";
import { objectsIn } from "./object-args.ts";

const flags = {
  ...clusterFlags,
  ...everywhereFlag,
  ...selectorFlag,
  all: { type: "boolean", help: "all objects of the namespace, or with -A of the cluster" },
  ...usualOutput,
} as const;
type Given = Context<keyof typeof flags & string>;

interface AnnotationCommand {
  name: string;
  summary: string;
  description: string;
  /** The annotation and its value; null removes it. */
  annotation: string;
  value(now: number): string | null;
  /** The effect on the object, for people. */
  done(each: MooringObject): string;
  /** The reason why an object cannot have the annotation, if there is one. */
  refusal?(each: MooringObject): string | undefined;
}

/** A command that sets one annotation: a single merge patch with the caller's rights. */
const annotationCommand = (declared: AnnotationCommand): PeopleCommand =>
  command({
    name: declared.name,
    summary: declared.summary,
    usage: ["KIND/NAME… [OPTION…]", "-l SELECTOR | --all [-A] [OPTION…]"],
    description: `${declared.description} Needs the right to patch the objects.`,
    examples: [
      [
        `mooring ${declared.name} ${declared.name === "rotate" ? "metricpipeline/shop" : "server/web"}`,
        declared.summary,
      ],
      [`mooring ${declared.name} -l app=shop`, "the same for all objects with a label"],
    ],
    flags,
    exitCodes: { 1: "failed for at least one object" },
    completes: "object",
    run: (context) => annotate(context, declared),
  });

async function annotate(context: Given, { annotation, value, done, refusal }: AnnotationCommand): Promise<number> {
  const { answer, screen, sources, client } = context;
  const objects = await chosen(context);
  const kube = await client();
  const changed: { key: string; text: string }[] = [];
  const failed: { object: string; message: string }[] = [];
  for (const each of objects) {
    const { name, namespace } = each.object.metadata;
    try {
      const why = refusal?.(each);
      if (why !== undefined) throw new Error(why);
      await kube.request({
        method: "PATCH",
        path: pathOf(resourceOf(each.kind), { namespace, name }),
        contentType: "application/merge-patch+json",
        body: { metadata: { annotations: { [annotation]: value(sources.now()) } } },
        signal: sources.signal,
      });
      changed.push({ key: each.key, text: done(each) });
    } catch (error) {
      sources.signal.throwIfAborted();
      failed.push({ object: each.key, message: error instanceof Error ? error.message : String(error) });
    }
  }
  answer({ changed: changed.map(({ key }) => key), ...(failed.length > 0 && { failed }) }, () => {
    for (const { key, text } of changed) screen.line(key, ` ${text}`);
    for (const { object, message } of failed) screen.note(object, `: ${message}`);
    if (objects.length === 0) screen.note("no objects found");
  });
  return failed.length > 0 ? 1 : 0;
}

async function chosen({ args, flags, sources, namespace }: Given): Promise<MooringObject[]> {
  const selector = flags.text("selector");
  const isMany = selector !== undefined || flags.on("all");
  if (args.length > 0) {
    if (isMany) throw new UsageError("name objects, or use -l or --all");
    const cluster = await sources.cluster();
    const asked = objectsIn(args, flags.text("namespace"));
    return Promise.all(asked.map((each) => objectNamed(cluster, each, sources.signal)));
  }
  if (!isMany) throw new UsageError("name objects as KIND/NAME, or use -l or --all");
  return [...(await allObjects(sources, await namespace(), undefined, selector)).values()];
}

const timestamp = (at: number) => new Date(at).toISOString();

export const reconcile = annotationCommand({
  name: "reconcile",
  summary: "reconcile objects immediately, and retry what failed",
  description: `Sets the annotation ${RECONCILE_AT}: the operator reads the resource on the platform now, and retries what failed.`,
  annotation: RECONCILE_AT,
  value: timestamp,
  done: () => "will be reconciled",
});

export const pause = annotationCommand({
  name: "pause",
  summary: "pause objects: their resources are not changed any more",
  description: `Sets the annotation ${PAUSED}: the operator changes nothing of these objects and their resources until they are resumed.`,
  annotation: PAUSED,
  value: () => "true",
  done: () => "paused",
});

export const resume = annotationCommand({
  name: "resume",
  summary: "resume paused objects",
  description: `Removes the annotation ${PAUSED}.`,
  annotation: PAUSED,
  value: () => null,
  done: () => "resumed",
});

/** The content of the Secret of a kind. */
function secretContent({ resource }: Kind): string {
  if (resource?.secret?.certificate) return "certificate";
  return resource?.names.type === "token" ? "token" : "key";
}

export const rotate = annotationCommand({
  name: "rotate",
  summary: "issue a new key, token or certificate for objects that have one",
  description: `Sets the annotation ${ROTATE_AT}: the operator issues a new key, token or certificate and writes it into the Secret. With some kinds the previous one stops working immediately.`,
  annotation: ROTATE_AT,
  value: timestamp,
  done: ({ kind }) => `will get a new ${secretContent(kind)}`,
  refusal({ kind, key, object }) {
    if (!kind.resource?.secret) return `${key} has no key, token or certificate`;
    return observes(object)
      ? `${key} is only observed: with managementPolicy: Manage its key can be renewed`
      : undefined;
  },
});
