import { z } from "zod";
import { isNotFound } from "../client/errors.ts";
import type { KubeClient } from "../client/transport.ts";
import { pathOf, SECRETS } from "../resource.ts";
import { fetchObject } from "../watch/followed.ts";
import { secretValue } from "./owned-secret.ts";

/** A Secret with a record, as the API server has it. */
export interface RecordedSecret {
  record: string | undefined;
  value: string | undefined;
  /** The resourceVersion; empty for one that does not exist. */
  version: string;
}

/** The changes of a write. */
interface SecretChange {
  record: string;
  /** Undefined: it stays. Null: it is removed. */
  value: string | null | undefined;
  /** The version that was read; the write conflicts if there is another one. */
  version: string | undefined;
}

export type RecordedSecrets = ReturnType<typeof createRecordedSecrets>;

const NONE = "";
const METADATA_ONLY = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

const annotated = z.looseObject({
  metadata: z.looseObject({ annotations: z.record(z.string(), z.string()).nullish() }),
});
/** The answer to a metadata-only list; an empty one has null. */
const listed = z.object({ items: z.array(annotated).nullable() });

/**
 * Secrets of one namespace with one value each, and with a record in an annotation, so that all records can be listed without the
 * values.
 */
export function createRecordedSecrets(
  client: KubeClient,
  {
    namespace,
    labels,
    annotation,
    key,
  }: { namespace: string; labels: Record<string, string>; annotation: string; key: string },
) {
  const create = async (name: string, annotations: object, data: object) => {
    const metadata = { annotations, name, namespace, labels };
    const body = { apiVersion: "v1", kind: "Secret", type: "Opaque", metadata, data };
    await client.request({ method: "POST", path: pathOf(SECRETS, { namespace }), body });
  };
  return {
    /** The records of all. */
    async records(): Promise<string[]> {
      const labelSelector = Object.entries(labels)
        .map((label) => label.join("="))
        .join();
      const path = pathOf(SECRETS, { namespace });
      const found = await client.request({ method: "GET", path, query: { labelSelector }, accept: METADATA_ONLY });
      return (listed.parse(found).items ?? []).map(({ metadata }) => metadata.annotations?.[annotation] ?? "");
    },
    async read(name: string): Promise<RecordedSecret> {
      const secret = await fetchObject(client, SECRETS, { namespace, name });
      if (!secret) return { record: undefined, value: undefined, version: NONE };
      const { resourceVersion: version = NONE, annotations } = secret.metadata;
      return { record: annotations?.[annotation], value: secretValue(secret, key), version };
    },
    /** Writes a record and a value. Creates the Secret if it does not exist, unless a version was read. */
    async write(name: string, { record, value, version }: SecretChange): Promise<void> {
      const annotations = { [annotation]: record };
      const data = typeof value === "string" ? { [key]: Buffer.from(value).toString("base64") } : {};
      if (version === NONE) return create(name, annotations, data);
      const metadata = { annotations, ...(version !== undefined && { resourceVersion: version }) };
      const body = { metadata, data: value === null ? { [key]: null } : data };
      const path = pathOf(SECRETS, { namespace, name });
      try {
        await client.request({ method: "PATCH", path, contentType: "application/merge-patch+json", body });
      } catch (error) {
        if (version !== undefined || !isNotFound(error)) throw error;
        await create(name, annotations, data);
      }
    },
    /** The Secret may be gone already. */
    async remove(name: string): Promise<void> {
      try {
        await client.request({ method: "DELETE", path: pathOf(SECRETS, { namespace, name }) });
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    },
  };
}
