import { yamlText } from "../../diagnostics/manifest-text.ts";
import type { Kind } from "../../kinds/kind.ts";
import { operatorPolicies } from "./policy.ts";
import { type Installation, operatorRights, tenantRoles } from "./rbac.ts";

/** All rights of an installation. With watched namespaces, none of them is cluster-wide. */
export const rights = (kinds: readonly Kind[], installation: Installation = {}): object[] => [
  ...operatorRights(kinds, installation),
  ...(installation.watched ? [] : [...operatorPolicies(installation), ...tenantRoles(kinds)]),
];

export const yaml = (documents: readonly object[]): string =>
  documents.map((document) => yamlText(document)).join("---\n");
