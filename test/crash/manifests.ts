import type { Kind } from "../../src/kinds/kind.ts";

export { CREDENTIALS, LOGIN, type Manifest, manifest } from "../subjects/surroundings.ts";

/** The name of the object that lives. What belongs to no namespace is told apart from that of other lives by it. */
export const nameFor = ({ scope }: Kind, namespace: string): string => (scope === "Cluster" ? namespace : "subject");
