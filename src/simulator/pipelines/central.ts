import { uuidOfName } from "../chance.ts";
import type { Reply } from "../http/exchange.ts";
import { missing } from "../http/refusal.ts";
import { stampsOf, urnOf } from "../managed/service.ts";
import type { World } from "../world.ts";
import { givenSwitch } from "./body.ts";
import { watchProducts } from "./product-logs.ts";
import type { Central } from "./records.ts";
import { dashboardOf, hrefOf, type RegionalCall, services } from "./service.ts";

/**
 * The switch that lets integrated products forward their logs or metrics: one per contract and region and always
 * there, off until somebody switches it.
 */
export function readCentral(world: World, call: RegionalCall): Reply {
  if (call.params.centralId !== idOf(world, call)) throw missing();
  return { status: 200, body: shown(world, call) };
}

/** The public interface has a list; as described, there is one switch without an id. */
export function listCentrals(world: World, call: RegionalCall): Reply {
  const item = shown(world, call);
  const { metadata, properties } = item;
  const href = hrefOf(call.origin, call.product, call.region, "central");
  const { forms } = world;
  return {
    status: 200,
    body: {
      ...(forms.public && { id: "central", type: "collection", href, items: [item] }),
      ...(forms.described && { metadata, properties }),
    },
  };
}

/** By its id or, since there is only one, without. */
export function switchCentral(world: World, call: RegionalCall): Reply {
  const { product, region, at } = call;
  const { centralId } = call.params;
  if (centralId !== undefined && centralId !== idOf(world, call)) throw missing();
  const enabled = givenSwitch(call.body);
  const { centrals } = world.pipelines;
  const userId = call.caller.user.id;
  if (enabled && product === "logs" && centrals.get(rowOf(call))?.enabled !== true) watchProducts(world, region, at);
  const before = centrals.get(rowOf(call)) ?? { createdAt: at, createdBy: userId };
  centrals.put(rowOf(call), { ...before, product, region, enabled, modifiedAt: at, modifiedBy: userId });
  const { metadata, properties, ...named } = shown(world, call);
  return { status: 200, body: { ...(world.forms.public && named), metadata, properties } };
}

/** What steering shows. */
export const centralsIn = (world: World) =>
  [...world.pipelines.centrals.values()].map(({ product, region, enabled }) => ({
    id: idOf(world, { product, region }),
    type: "central",
    product,
    region,
    properties: { enabled },
  }));

type Place = Pick<Central, "product" | "region">;

const rowOf = ({ product, region }: Place) => `${product}/${region}`;

/** Follows from the contract, so that it is known before anybody has switched anything. */
const idOf = ({ contractNumber }: World, place: Place) => uuidOfName(`central/${contractNumber}/${rowOf(place)}`);

function shown(world: World, call: RegionalCall) {
  const { product, region, origin } = call;
  const id = idOf(world, call);
  const central = world.pipelines.centrals.get(rowOf(call));
  return {
    id,
    type: "central",
    href: hrefOf(origin, product, region, `central/${id}`),
    metadata: {
      ...(central && stampsOf(world, call, central)),
      resourceURN: urnOf(world, services[product], "central", id),
      grafanaEndpoint: dashboardOf(world, origin, region),
      // None of the products that the simulator has forwards metrics by itself.
      ...(product === "metrics" && { products: [] }),
    },
    properties: { enabled: central?.enabled ?? false },
  };
}
