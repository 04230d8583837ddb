import { createPrivateKey, X509Certificate } from "node:crypto";
import type { Deps } from "../../engine/observe/deps.ts";
import { type Resolved, readSecrets } from "../../engine/observe/spec/references.ts";
import type { KubeObject } from "../../kube/resource.ts";

/** The forms of values in the Secrets of destinations: whether a value has it, and what is wrong if not. */
const forms = {
  /** Sent in a header or an address. */
  plain: {
    matches: (value: string) => /^[\x20-\x7e]+$/.test(value),
    problem: "is empty or contains invalid characters: write it again, in one line of printable ASCII",
  },
  certificate: {
    matches: parses((value) => new X509Certificate(value)),
    problem: "is not a certificate in PEM",
  },
  privateKey: {
    matches: parses((value) => createPrivateKey(value)),
    problem: "is not a private key in PEM",
  },
};

function parses(parse: (value: string) => unknown): (value: string) => boolean {
  return (value) => {
    try {
      parse(value);
      return true;
    } catch {
      return false;
    }
  };
}

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
