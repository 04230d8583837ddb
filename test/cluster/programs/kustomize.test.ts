import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { expect, it } from "vitest";
import { parseAllDocuments, stringify } from "yaml";
import { root } from "../../processes.ts";
import { cluster } from "../harness.ts";

const { kubectl } = cluster();

/** Every name in a field that ends with Ref, by that field. */
function names(node: unknown, field = ""): [field: string, name: unknown][] {
  if (Array.isArray(node)) return node.flatMap((each) => names(each, field));
  if (typeof node !== "object" || node === null) return [];
  if (field.endsWith("Ref")) return [[field, Reflect.get(node, "name")]];
  return Object.entries(node).flatMap(([name, child]) => names(child, name));
}

it("kustomize changes names together with all that refer to them", async () => {
  const folder = await mkdtemp(join(tmpdir(), "mooring-kustomize-"));
  const deploy = (path: string) => join(relative(folder, root), "deploy", path);
  const files = [
    "landscape",
    "datacenter",
    "lan",
    "server",
    "kafkacluster",
    "kafkatopic",
    "kafkauser",
    "centrallogging",
  ];
  const kustomization = {
    namePrefix: "team-a-",
    configurations: [deploy("kustomize/name-references.yaml")],
    resources: files.map((file) => deploy(`samples/${file}.yaml`)),
    // References that no sample has.
    patches: [
      {
        target: { kind: "CentralLogging" },
        patch: stringify([{ op: "add", path: "/spec/accountRef", value: { name: "main" } }]),
      },
    ],
  };
  await writeFile(join(folder, "kustomization.yaml"), stringify(kustomization));
  const { code, stdout, stderr } = await kubectl(["kustomize", "--load-restrictor", "LoadRestrictionsNone", folder]);
  await rm(folder, { recursive: true });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const found = parseAllDocuments(stdout).flatMap((document) => names(document.toJS()));
  expect(found.filter(([, name]) => !String(name).startsWith("team-a-"))).toEqual([]);
  const fields = [...new Set(found.map(([field]) => field))].sort();
  expect(fields).toEqual([
    "accountRef",
    "bootVolumeRef",
    "clusterRef",
    "configMapKeyRef",
    "credentialsSecretRef",
    "datacenterRef",
    "ipBlockRef",
    "lanRef",
    "serverRef",
    "snapshotRef",
    "userDataSecretRef",
    "volumeRef",
  ]);
});
