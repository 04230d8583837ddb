import type { Kind } from "../../../src/kinds/kind.ts";

export { CREDENTIALS, LOGIN, type Manifest, manifest } from "../../subjects/surroundings.ts";

/** The name of the object of a life. For a cluster-scoped object, it is unique among lives. */
export const nameFor = ({ scope }: Kind, namespace: string): string => (scope === "Cluster" ? namespace : "subject");
