import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { people } from "../../src/cli/people/commands.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import { temporaryFolder } from "../../src/simulator/programs/swept.ts";
import { type Arrived, answer, scriptedServer } from "../platform/scripted-server.ts";
import { streams } from "./streams.ts";

/** An object or a list, in namespace shop or in all. */
const PATH = /^\/apis\/mooring\.dev\/v1alpha1\/(?:namespaces\/shop\/)?([a-z]+)(?:\/([^/?]+))?/;

/** A kubeconfig of an API server that has these objects in namespace shop, by the plural of their kind. */
export async function withCluster<Result>(
  objects: Record<string, KubeObject[]>,
  act: (kubeconfig: string, server: { arrived: readonly Arrived[] }) => Promise<Result>,
): Promise<Result> {
  const folder = temporaryFolder("scripted-cluster");
  await using server = await scriptedServer((arrived, response, request) => {
    const [, plural = "", name] = PATH.exec(arrived.url) ?? [];
    const items = objects[plural];
    const list = items && { kind: "List", metadata: { resourceVersion: "1" }, items };
    const found = name === undefined ? list : items?.find(({ metadata }) => metadata.name === name);
    const nothing = { kind: "Status", status: "Failure", code: 404, reason: "NotFound", message: "not found" };
    answer(found ? 200 : 404, found ?? nothing)(arrived, response, request);
  });
  const path = join(folder.path, "kubeconfig");
  const entry = { name: "scripted" };
  writeFileSync(
    path,
    JSON.stringify({
      clusters: [{ ...entry, cluster: { server: server.url } }],
      users: [{ ...entry, user: {} }],
      contexts: [{ ...entry, context: { cluster: entry.name, user: entry.name, namespace: "shop" } }],
      "current-context": entry.name,
    }),
  );
  try {
    return await act(path, server);
  } finally {
    folder.remove();
  }
}

/** Runs a command against such an API server. */
export const runWith = (objects: Record<string, KubeObject[]>, line: string) =>
  withCluster(objects, async (path, { arrived }) => {
    const [name = "", ...argv] = line.split(" ");
    const { written, given } = streams({ KUBECONFIG: path });
    const command = await people[name]?.load();
    const code = await command?.run(argv, given);
    return { code, ...written, arrived };
  });
