import { resourceOf } from "../engine/state/object.ts";
import { account, readAccountSpec } from "../kinds/identity/account.ts";
import { connect } from "../kube/client/config.ts";
import { isNotFound } from "../kube/client/errors.ts";
import type { KubeClient } from "../kube/client/transport.ts";
import { type KubeObject, pathOf, type Resource } from "../kube/resource.ts";
import { SECRETS, secretValue } from "../kube/write/owned-secret.ts";
import { endpointUrl } from "../platform/addresses/endpoints.ts";
import type { AccessSource } from "./access-source.ts";

/** Endpoints and token of an Account of the current cluster, read once; `endpoints` for those that it does not name. */
export async function sourceOfAccount(
  name: string,
  namespace: string | undefined,
  env: Record<string, string | undefined>,
  endpoints: Record<string, string>,
): Promise<AccessSource> {
  const client = await connect({ env });
  try {
    return await readSource(client, namespace ?? client.namespace ?? "default", name, endpoints);
  } finally {
    await client.close();
  }
}

async function readSource(
  client: KubeClient,
  namespace: string,
  name: string,
  others: Record<string, string>,
): Promise<AccessSource> {
  const where = `Account ${namespace}/${name}`;
  const object = await find(client, resourceOf(account), namespace, name);
  if (!object) throw new Error(`${where} not found: see "kubectl get accounts -A", and set its namespace with -n`);
  const spec = readAccountSpec(object.spec);
  const { name: secretName, key } = spec.credentialsSecretRef;
  const secret = await find(client, SECRETS, namespace, secretName);
  const token = secret && secretValue(secret, key)?.trim();
  return {
    endpoint(endpoint) {
      const template = spec.endpoints?.[endpoint] ?? others[endpoint];
      if (template === undefined) {
        throw new Error(`${where} has no spec.endpoints.${endpoint}: set MOORING_ENDPOINTS as for the operator`);
      }
      return endpointUrl(template, spec.region);
    },
    credentials() {
      if (!token) throw new Error(`${where}: Secret ${secretName} has no key ${key}: add it with the platform's token`);
      return { token, ...(spec.contractNumber !== undefined && { contractNumber: spec.contractNumber }) };
    },
  };
}

async function find(client: KubeClient, resource: Resource, namespace: string, name: string) {
  try {
    return await client.request<KubeObject>({ method: "GET", path: pathOf(resource, { namespace, name }) });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
