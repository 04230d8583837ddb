import { readFileSync } from "node:fs";
import { resourceIdentity } from "../../diagnostics/landscape/resources.ts";
import { type Elsewhere, fromCrossplane } from "../../import/elsewhere.ts";
import type { Imported } from "../../import/manifests.ts";
import { importQuestion, kindsNamed } from "../../import/question.ts";
import { fromTerraform } from "../../import/terraform.ts";
import { command } from "../frame/command.ts";
import { clusterFlags, platformFlags, UsageError } from "../frame/flags.ts";
import { type Screen, yamlOf } from "../frame/screen.ts";
import { yellow } from "../frame/text.ts";
import { schemaOf } from "../manifests/schemas.ts";
import { writeFiles } from "./files.ts";

export const importCommand = command({
  name: "import",
  summary: "existing resources of the platform as manifests that change nothing when applied",
  usage: ["[--account NAME] [--datacenter NAME|ID] [--kinds KIND,…] [-o DIR|-] [OPTION…]"],
  description:
    "Reads the contract and prints an object for each resource: with externalId, references instead of ids, and all fields that spec can express. A plan checks every object: when it is applied, it becomes Ready and nothing is written to the platform. Objects only observe (managementPolicy: Observe) unless --manage is given. Values that spec cannot express are listed with the reason. Values that may be secret are never printed.",
  examples: [
    ["mooring import --account main -o landscape/", "one file per object"],
    ["mooring import --datacenter shop --kinds Server,Volume | kubectl apply -f -", "a part of it, applied at once"],
    ["mooring import --manage -o landscape/", "objects that manage their resources"],
    ["mooring import --from-terraform terraform.tfstate -o landscape/", "names from a state, and how to release it"],
  ],
  flags: {
    ...clusterFlags,
    ...platformFlags,
    datacenter: {
      type: "string",
      multiple: true,
      value: "NAME",
      help: "only this datacenter, by name or id; may be repeated",
    },
    kinds: { type: "string", value: "KIND,…", help: "only these kinds, for example Server,Volume" },
    output: {
      type: "string",
      short: "o",
      value: "DIR",
      completes: "directory",
      help: "folder for one file per object, or - for one stream (default)",
    },
    force: { type: "boolean", help: "overwrite files that exist" },
    manage: { type: "boolean", help: "objects manage their resources, if that changes nothing" },
    "from-terraform": {
      type: "string",
      value: "STATE",
      completes: "file",
      help: "only resources of this Terraform state, with its names",
    },
    "from-crossplane": {
      type: "string",
      value: "FILE",
      completes: "file",
      help: "only resources of these Crossplane objects, with their names",
    },
  },
  async run({ flags, args, screen, sources, cluster, platform }) {
    if (args.length > 0) throw new UsageError(`unexpected "${args[0]}"`);
    const kinds = kindsIn(flags.text("kinds"));
    const other = elsewhere(flags.text("from-terraform"), flags.text("from-crossplane"));
    const account = flags.text("account");
    const unusable = accountElsewhere(account, flags.text("namespace"));
    if (unusable !== undefined) throw new UsageError(unusable);
    const alive = setInterval(() => {}, 60_000);
    try {
      const result = await importQuestion(
        { ...sources, cluster, platform, schemas: async () => schemaOf },
        {
          kinds,
          datacenters: flags.all("datacenter"),
          manage: flags.on("manage"),
          namespace: flags.text("namespace"),
          accountRef: account === undefined ? undefined : refTo(account),
          elsewhere: other,
        },
      );
      if (result.kept.length > 0) write(screen, result.kept, flags.text("output") ?? "-", flags.on("force"));
      for (const { object, notes } of result.kept) {
        for (const { field, why } of notes)
          screen.note(yellow("not in spec: "), `${object.kind} ${object.metadata.name} ${field}: ${why}`);
      }
      for (const { what, why } of [...result.dropped, ...result.left])
        screen.note(yellow("not imported: "), `${what}: ${why}`);
      for (const { what, cluster } of result.others)
        screen.note(
          yellow("of another cluster: "),
          `${what} was created by cluster ${cluster}, which may have an object for it: let only one of them manage it`,
        );
      if (result.kept.length === 0) {
        const named = result.dropped.length + result.left.length > 0;
        throw new Error(`nothing to import: ${named ? "all that is there is named above" : "no resource matches"}`);
      }
      if (other) tellRelease(screen, result.kept, other);
      return 0;
    } finally {
      clearInterval(alive);
    }
  },
});

function kindsIn(text: string | undefined): string[] | undefined {
  const words = text?.split(",");
  try {
    kindsNamed(words ?? []);
  } catch (error) {
    throw new UsageError(`--kinds: ${error instanceof Error ? error.message : String(error)}`);
  }
  return words;
}

function elsewhere(terraform: string | undefined, crossplane: string | undefined): Elsewhere | undefined {
  if (terraform !== undefined && crossplane !== undefined)
    throw new UsageError("give only one of --from-terraform and --from-crossplane");
  if (terraform !== undefined) return fromTerraform(readFileSync(terraform, "utf8"));
  return crossplane === undefined
    ? undefined
    : fromCrossplane(readFileSync(crossplane === "-" ? 0 : crossplane, "utf8"));
}

const refTo = (account: string) => {
  const [kind = "", name] = account.split("/");
  return kind === "ClusterAccount" && name !== undefined ? { kind, name } : { name: name ?? kind };
};

/** An object can use an Account of its own namespace, or a ClusterAccount. */
function accountElsewhere(account: string | undefined, namespace: string | undefined): string | undefined {
  const [home = "", name] = account?.split("/") ?? [];
  if (name === undefined || namespace === undefined || home === "ClusterAccount" || home === namespace)
    return undefined;
  return `objects in namespace ${namespace} cannot use the Account ${account}: give -n ${home}, or an Account of that namespace`;
}

/** Writes one stream, or one file per object. */
function write(screen: Screen, imported: readonly Imported[], to: string, force: boolean): void {
  const documents = imported.map(({ object }) => ({
    file: `${object.kind.toLowerCase()}-${object.metadata.name}.yaml`,
    text: yamlOf(object),
  }));
  if (to === "-") {
    for (const { text } of documents) {
      screen.line("---");
      for (const line of text.trimEnd().split("\n")) screen.line(line);
    }
    return;
  }
  writeFiles(to, documents, force);
  screen.note(`${documents.length} files in ${to}`);
}

function tellRelease(screen: Screen, imported: readonly Imported[], { release, titles }: Elsewhere): void {
  screen.note("After the objects are Ready, run this, so that the other tool does not delete the resources:");
  // One command may release several resources, such as a server with the volume inside.
  const commands = new Set(imported.flatMap(({ resource }) => release.get(resourceIdentity(resource)) ?? []));
  for (const words of commands) screen.note(`  ${words}`);
  const isReleased = (identity: string) => release.get(identity)?.some((words) => commands.has(words)) ?? false;
  for (const [identity, title] of titles)
    if (!isReleased(identity)) screen.note(yellow("stays with the other tool: "), `${title}: it is not imported`);
}
