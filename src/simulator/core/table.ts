import type { Kind } from "./kind.ts";
import { image, location, template } from "./kinds/catalogue.ts";
import { datacenter } from "./kinds/datacenter.ts";
import { firewallRule } from "./kinds/firewall-rule.ts";
import { ipblock } from "./kinds/ipblock.ts";
import { label } from "./kinds/label.ts";
import { lan } from "./kinds/lan.ts";
import { nic } from "./kinds/nic.ts";
import { server } from "./kinds/server.ts";
import { volume } from "./kinds/volume.ts";

/** Every type of resource of the core API. Routes, views, writes and the steering state all come from here. */
export const kinds: readonly Kind[] = [
  datacenter,
  server,
  volume,
  nic,
  firewallRule,
  lan,
  ipblock,
  image,
  template,
  location,
  label,
];

const byType = new Map(kinds.map((kind) => [kind.type, kind]));

export function kindOf(type: string): Kind {
  const kind = byType.get(type);
  if (kind === undefined) throw new Error(`no kind of type ${type}`);
  return kind;
}

export const childKinds = (parentType: string) => kinds.filter((kind) => kind.parents.includes(parentType));

/** A collection below a resource: of its own children, or of resources linked to it. */
export interface EntityCollection {
  collection: string;
  type: string;
  linked: boolean;
}

const collections = new Map<string, EntityCollection[]>();

export function entityCollections(type: string): EntityCollection[] {
  let found = collections.get(type);
  if (found === undefined) {
    const links = kindOf(type).links ?? [];
    const children = childKinds(type).filter((kind) => kind.entity !== false);
    found = [
      ...links.map(({ collection, type }) => ({ collection, type, linked: true })),
      ...children.map(({ collection, type }) => ({ collection, type, linked: false })),
    ];
    collections.set(type, found);
  }
  return found;
}
