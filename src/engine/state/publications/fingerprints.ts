import { hash } from "node:crypto";
import { z } from "zod";
import { GROUP, kinds, VERSION } from "../../../kinds/index.ts";
import type { KubeObject, OwnerReference } from "../../../kube/resource.ts";
import { controllerOf, decoded } from "../../../kube/write/owned-secret.ts";
import { hashBody } from "../../../runtime/hash.ts";
import { unlessThrown } from "../../../runtime/unless-thrown.ts";
import { PUBLISHED } from "../names.ts";

/** Equal for Secrets or ConfigMaps with the same content. */
export const contentHash = ({ data, binaryData }: Readonly<Record<string, unknown>>): string =>
  hashBody([data ?? {}, binaryData ?? {}]);

/** Tells values apart without telling what they are. */
export const fingerprintOf = (value: string | Uint8Array): string => hash("sha256", value, "hex").slice(0, 12);

export const fingerprintsOf = (data: Readonly<Record<string, string | Uint8Array>>): Record<string, string> =>
  Object.fromEntries(Object.entries(data).map(([name, value]) => [name, fingerprintOf(value)]));

/** A Secret of Mooring has about ten entries. Of a larger one, those that its note names are read. */
const MOST_ENTRIES = 64;
const named = z.looseObject({ entries: z.record(z.string(), z.unknown()) });

export function entriesOf(secret: KubeObject): Record<string, string> {
  const all = decoded(secret);
  if (Object.keys(all).length <= MOST_ENTRIES) return fingerprintsOf(all);
  const known = namesIn(secret.metadata.annotations?.[PUBLISHED]).slice(0, MOST_ENTRIES);
  return fingerprintsOf(Object.fromEntries(known.flatMap((name) => (all[name] ? [[name, all[name]]] : []))));
}

/** The entries that a note names. Its signature is not checked here. */
const namesIn = (note = ""): string[] => unlessThrown(() => Object.keys(named.parse(JSON.parse(note)).entries)) ?? [];

const names: ReadonlySet<string> = new Set(kinds.map(({ kind }) => kind));
const MOST_UID = 64;
const MOST_NAME = 253;

/** The object of Mooring that a Secret or a ConfigMap belongs to, by what its controller reference says. */
export function ownerOf(object: KubeObject): OwnerReference | undefined {
  const owner = controllerOf(object);
  if (!owner) return undefined;
  const { apiVersion, kind, name, uid } = owner;
  const isOurs = apiVersion === `${GROUP}/${VERSION}` && names.has(kind);
  return isOurs && name.length <= MOST_NAME && uid.length <= MOST_UID
    ? { apiVersion, kind, name, uid, controller: true }
    : undefined;
}
