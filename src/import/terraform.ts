import { z } from "zod";
import { type Elsewhere, identityIn, quoted } from "./elsewhere.ts";

const id = z.string().min(1).optional().catch(undefined);
/** Null where a state of an older provider does not have the list. */
const list = <Item extends z.ZodType>(item: Item) => z.array(item).catch([]);
const flowLogs = list(z.looseObject({ id, name: id }));

const attributes = z.looseObject({
  id,
  datacenter_id: id,
  server_id: id,
  boot_volume: id,
  inline_volume_ids: list(id),
  volume: list(z.looseObject({ name: id })),
  nic: list(z.looseObject({ flowlog: flowLogs })),
  flowlog: flowLogs,
});
const instance = z.looseObject({
  index_key: z.union([z.string(), z.number()]).optional(),
  attributes: attributes.nullish(),
});
const state = z.looseObject({
  resources: z.array(
    z.looseObject({
      mode: z.string().optional(),
      module: z.string().optional(),
      type: z.string(),
      name: z.string(),
      instances: z.array(instance),
    }),
  ),
});

/** A resource that Terraform manages. */
interface Managed {
  type: string;
  /** Its name, with the key of the instance. */
  name: string;
  address: string;
  command: string;
  attributes: z.output<typeof attributes>;
}

/** The resource that chooses what a server boots from: it has the server's id. */
const BOOT_SELECTION = "ionoscloud_server_boot_device_selection";
/** Resources of Terraform that are a part of the Server object. */
const PARTS: ReadonlySet<string> = new Set(["ionoscloud_nic", "ionoscloud_firewall", BOOT_SELECTION]);

/** Reads a state file of Terraform or OpenTofu, version 4. Only addresses, names and ids are used. */
export function fromTerraform(text: string): Elsewhere {
  const all = managedIn(text);
  const names = new Map<string, string>();
  const release = new Map<string, string[]>();
  const titles = new Map<string, string>();
  const add = (identity: string, command: string) => {
    const commands = release.get(identity) ?? [];
    if (!commands.includes(command)) release.set(identity, [...commands, command]);
  };
  for (const { type, name, address, command, attributes } of all) {
    if (attributes.id === undefined || type === BOOT_SELECTION) continue;
    const identity = identityIn(attributes.id, attributes.datacenter_id);
    if (!PARTS.has(type)) names.set(identity, name);
    titles.set(identity, address);
    add(identity, command);
  }
  for (const { type, command, attributes } of all) {
    if (PARTS.has(type) && attributes.server_id !== undefined) add(attributes.server_id, command);
  }
  // A resource of its own keeps its name.
  for (const managed of all) {
    for (const [inner, name] of insideOf(managed)) {
      if (names.has(inner)) continue;
      names.set(inner, name);
      add(inner, managed.command);
    }
  }
  return { names, release, titles };
}

function managedIn(text: string): Managed[] {
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch {
    throw new Error("--from-terraform: the file is not JSON: give a state file, or the output of terraform state pull");
  }
  const parsed = state.safeParse(raw);
  if (!parsed.success) throw new Error("--from-terraform: the file is not a state of version 4: it has no resources");
  return parsed.data.resources.flatMap(({ mode = "managed", module, type, name, instances }) => {
    if (mode !== "managed" || !type.startsWith("ionoscloud_")) return [];
    return instances.flatMap(({ index_key: key, attributes }) => {
      if (!attributes) return [];
      const index = key === undefined ? "" : `[${JSON.stringify(key)}]`;
      const address = `${module === undefined ? "" : `${module}.`}${type}.${name}${index}`;
      const command = `terraform state rm ${quoted(address)}`;
      return { type, name: key === undefined ? name : `${name}-${key}`, address, command, attributes };
    });
  });
}

/** The volumes and flow logs inside of a resource, by id. */
function insideOf({ name, attributes }: Managed): [id: string, name: string][] {
  const { inline_volume_ids: inline, boot_volume: boot, volume, nic, flowlog } = attributes;
  const volumes = inline.map((id, nth): [string | undefined, string] => [
    id,
    volume[nth]?.name ?? (id === boot ? "boot" : `volume-${nth + 1}`),
  ]);
  const logs = [...flowlog, ...nic.flatMap((each) => each.flowlog)].map((each): [string | undefined, string] => [
    each.id,
    each.name ?? "flowlog",
  ]);
  return [...volumes, [boot, "boot"] as const, ...logs].flatMap(([id, own]): [string, string][] =>
    id === undefined ? [] : [[id, `${name}-${own}`]],
  );
}
