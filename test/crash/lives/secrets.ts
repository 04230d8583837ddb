import { z } from "zod";
import { isNotFound } from "../../../src/kube/client/errors.ts";
import type { KubeClient } from "../../../src/kube/client/transport.ts";
import { pathOf, SECRETS } from "../../../src/kube/resource.ts";

/** A Secret that must exist, or must be gone, while its object is Ready. */
export interface PromisedSecret {
  name: string;
  /** Tests the content of the Secret. Undefined if it works; otherwise the reason, without any of its values. */
  works(data: Record<string, string>): Promise<string | undefined>;
  /** It must be gone instead. */
  gone?: boolean;
}

/** The content of a Secret in plain text; undefined if it does not exist. */
export type ReadSecret = (name: string) => Promise<Record<string, string> | undefined>;

/** Problems with these Secrets: missing, or not working. */
export async function lostSecrets(promised: readonly PromisedSecret[], read: ReadSecret): Promise<string[]> {
  const lost: string[] = [];
  for (const { name, works, gone } of promised) {
    // Status names no Secret.
    const data = name === "" ? undefined : await read(name);
    const problem = data ? await works(data) : gone ? undefined : "it does not exist";
    if (problem !== undefined) lost.push(`Secret ${name}: ${problem}`);
  }
  return lost;
}

const shape = z.looseObject({ data: z.record(z.string(), z.string()).nullish() });

export function secretReader(client: KubeClient, namespace: string): ReadSecret {
  return async (name) => {
    try {
      const secret = shape.parse(await client.request({ method: "GET", path: pathOf(SECRETS, { namespace, name }) }));
      const entries = Object.entries(secret.data ?? {});
      return Object.fromEntries(entries.map(([key, value]) => [key, Buffer.from(value, "base64").toString()]));
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  };
}
