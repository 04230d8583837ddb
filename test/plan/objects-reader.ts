import type { ClusterReader } from "../../src/diagnostics/cluster.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import { objectOf } from "../engine/support/fixtures.ts";
import type { Stage } from "../engine/support/stage.ts";

/** These objects and their Account, as a caller of the API server reads them. */
export function readerOf(life: Stage, all: readonly KubeObject[]): ClusterReader {
  const live = () => [objectOf("Account", "main"), ...all.flatMap((each) => life.api.get(each) ?? [])];
  return {
    namespace: "shop",
    find: async ({ kind }, _, name) => live().find((each) => each.kind === kind && each.metadata.name === name),
    list: async ({ kind }, { labelSelector }) => {
      const [label = "", value] = labelSelector?.split("=") ?? [];
      const isMeant = ({ metadata }: KubeObject) => label === "" || metadata.labels?.[label] === value;
      return live().filter((each) => each.kind === kind && isMeant(each));
    },
    ask: async () => ({}),
  };
}
