import type { Deps } from "../../engine/observe/deps.ts";
import { type Resolved, readSecrets } from "../../engine/observe/spec/references.ts";
import type { KubeObject } from "../../kube/resource.ts";
import { forms } from "../../platform/export/forms.ts";

interface Wanted {
  /** The field of spec that leads to the Secret. */
  field: string;
  name: string;
  /** The keys of the Secret, with the form of their values. */
  keys: Readonly<Record<string, keyof typeof forms>>;
}

/**
 * Values of one Secret of the namespace of `owner`, by their keys. A value without its form is refused here, because the code
 * that uses it quotes it in its errors.
 */
export async function readSecret(
  deps: Deps,
  owner: KubeObject,
  { field, name, keys }: Wanted,
): Promise<Resolved<Record<string, string>>> {
  const values: Record<string, string> = {};
  for (const [key, form] of Object.entries(keys)) {
    const read = await readSecrets(deps.client, owner, { secrets: [{ field, kind: "Secret", name, key }] });
    if ("obstacle" in read) return read;
    const value = (read.value[field] ?? "").trim();
    const { matches, problem } = forms[form];
    if (!matches(value)) {
      const where = `key ${key} of Secret ${name} in namespace ${owner.metadata.namespace ?? ""}`;
      return { obstacle: { reason: "DestinationRefused", message: `${field}: ${where} ${problem}` } };
    }
    values[key] = value;
  }
  return { value: values };
}
