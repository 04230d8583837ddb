import type { Call, Reply, Route } from "../../http/exchange.ts";
import { missing } from "../../http/refusal.ts";
import { limitsOf } from "../../records/limits.ts";
import { basePath, hrefOf, type Resource } from "../../store/resource.ts";
import { isVisible } from "../../store/shown.ts";
import type { World } from "../../world.ts";
import { backupUnit } from "../compute/backup-unit.ts";
import { etagOf, type Listed, listReply, oneReply } from "../kind/listing.ts";
import { listed, metadataOf, readerFor, visible } from "../provisioning/reading.ts";
import { resolve } from "./table-routes.ts";

/** Paths that do not follow the pattern of the table: API info, contracts, backup consoles, locations and the labels of everything. */
export function singleRoutes(world: World): Route[] {
  const get = (path: string, handle: Route["handle"], access: Route["access"] = "user"): Route => ({
    method: "GET",
    template: `${basePath}${path}`,
    access,
    handle,
  });
  return [
    // Clients ask this one without credentials.
    get(
      "/",
      (call) => ({ status: 200, body: { href: `${call.origin}${basePath}`, name: "CLOUD API", version: "6.0" } }),
      "open",
    ),
    get("/contracts", (call) => contracts(world, call)),
    get("/locations", (call) => locations(world, call, "")),
    get("/locations/{regionId}", (call) => locations(world, call, `${call.params.regionId}/`)),
    get("/locations/{regionId}/{locationId}", (call) => oneLocation(world, call)),
    get("/locations/{regionId}/{locationId}/{siteId}", (call) => oneLocation(world, call)),
    get("/backupunits/{backupunitId}/ssourl", (call) => backupConsole(world, call)),
    get("/labels", (call) => labels(world, call)),
    get("/labels/{labelurn}", (call) => oneLabel(world, call)),
  ];
}

function contracts(world: World, call: Call): Reply {
  const { inference: _, ...quotas } = limitsOf(world);
  const owner = [...world.identity.users.values()].find((user) => user.role === "owner");
  const properties = {
    contractNumber: world.contractNumber,
    owner: owner?.username ?? "",
    status: "BILLABLE",
    regDomain: "ionos.de",
    resourceLimits: {
      ...quotas,
      ...world.usage.counts(),
      reservedIpsInUse: world.usage.reservedIpsInUse(),
    },
  };
  const reference = { id: String(world.contractNumber), type: "contract", href: hrefOf(call.origin, "contracts") };
  const contract: Listed = {
    createdAt: 0,
    etag: etagOf(JSON.stringify(properties)),
    reference: () => reference,
    metadata: () => ({}),
    properties: () => properties,
    full: () => ({ ...reference, properties }),
  };
  return listReply(call, { id: "contracts", href: reference.href, paged: false, items: [contract] });
}

function backupConsole(world: World, call: Call): Reply {
  const { id, properties } = resolve(world, call, [backupUnit]).resource;
  const login = `${world.contractNumber}-${properties.name}`;
  return { status: 200, body: { ssoUrl: `${call.origin}/backup/sso?login=${login}&unit=${id}` } };
}

function locations(world: World, call: Call, prefix: string): Reply {
  const reader = readerFor(world, call);
  const found = [...world.resources.children("", "locations")].filter(({ id }) => id.startsWith(prefix));
  if (found.length === 0) throw missing();
  const path = `locations${prefix === "" ? "" : `/${prefix.slice(0, -1)}`}`;
  return listReply(call, {
    id: path,
    href: hrefOf(call.origin, path),
    paged: false,
    items: found.map((each) => listed(reader, each)),
  });
}

function oneLocation(world: World, call: Call): Reply {
  const { regionId, locationId, siteId } = call.params;
  const id = [regionId, locationId, siteId].filter((part) => part !== undefined).join("/");
  const reader = readerFor(world, call);
  return oneReply(call, visible(reader, [`locations/${id}`]).map((each) => listed(reader, each))[0]);
}

const labelUrn = (label: Resource, holder: Resource) => `urn:label:${holder.type}:${holder.id}:${label.id}`;

function labels(world: World, call: Call): Reply {
  return listReply(call, {
    id: "labels",
    href: hrefOf(call.origin, "labels"),
    paged: false,
    items: everyLabel(world, call).map(({ item }) => item),
  });
}

function oneLabel(world: World, call: Call): Reply {
  return oneReply(call, everyLabel(world, call).find(({ urn }) => urn === call.params.labelurn)?.item);
}

/** All labels with the resource that each belongs to. */
function everyLabel(world: World, call: Call): { urn: string; item: Listed }[] {
  const reader = readerFor(world, call);
  return [...world.resources.ofType("label")].flatMap((label) => {
    const holder = world.resources.get(label.parent);
    if (holder === undefined || !isVisible(holder, reader.now)) return [];
    const urn = labelUrn(label, holder);
    const reference = { id: urn, type: "label", href: hrefOf(call.origin, `labels/${urn}`) };
    const properties = () => ({
      ...label.properties,
      resourceId: holder.id,
      resourceType: holder.type,
      resourceHref: hrefOf(call.origin, holder.key),
    });
    const item: Listed = {
      ...listed(reader, label),
      reference: () => reference,
      properties,
      full: () => ({ ...reference, metadata: metadataOf(reader, label), properties: properties() }),
    };
    return [{ urn, item }];
  });
}
