import { uuidOfName } from "../chance.ts";
import type { Call, Reply } from "../http/exchange.ts";
import { missing } from "../http/refusal.ts";
import { stampsOf, urnOf } from "../managed/service.ts";
import type { Central, Product } from "../records/pipelines.ts";
import type { World } from "../world.ts";
import { givenSwitch } from "./body.ts";
import { dashboardOf, hrefOf, services } from "./kinds.ts";
import { watchProducts } from "./product-logs.ts";

/**
 * The switch that lets integrated products forward their logs or metrics: one per contract and region. It always exists
 * and is off at first.
 */
export function readCentral(world: World, product: Product, call: Call): Reply {
  if (call.params.centralId !== idOf(world, placeOf(product, call))) throw missing();
  return { status: 200, body: shown(world, product, call) };
}

/** The public interface has a list; as described, there is one switch without an id. */
export function listCentrals(world: World, product: Product, call: Call): Reply {
  const item = shown(world, product, call);
  const { metadata, properties } = item;
  const href = hrefOf(call.origin, product, call.params.region ?? "", "central");
  const { forms } = world;
  return {
    status: 200,
    body: {
      ...(forms.public && { id: "central", type: "collection", href, items: [item] }),
      ...(forms.described && { metadata, properties }),
    },
  };
}

/** The described form has no id in the path: there is only one switch. */
export function switchCentral(world: World, product: Product, call: Call): Reply {
  const { at, params } = call;
  const place = placeOf(product, call);
  const { region } = place;
  if (params.centralId !== undefined && params.centralId !== idOf(world, place)) throw missing();
  const enabled = givenSwitch(call.body);
  const { centrals } = world.pipelines;
  const userId = call.caller.user.id;
  const current = centrals.get(rowKeyOf(place));
  if (enabled && product === "logs" && current?.enabled !== true) watchProducts(world, region, at);
  const before = current ?? { createdAt: at, createdBy: userId };
  centrals.put(rowKeyOf(place), { ...before, product, region, enabled, modifiedAt: at, modifiedBy: userId });
  const { metadata, properties, ...named } = shown(world, product, call);
  return { status: 200, body: { ...(world.forms.public && named), metadata, properties } };
}

/** The switches for `GET /_simulator/state`. */
export const centralsIn = (world: World) =>
  [...world.pipelines.centrals.values()].map(({ product, region, enabled }) => ({
    id: idOf(world, { product, region }),
    type: "central",
    product,
    region,
    properties: { enabled },
  }));

type Place = Pick<Central, "product" | "region">;

const placeOf = (product: Product, { params: { region = "" } }: Call): Place => ({ product, region });

const rowKeyOf = ({ product, region }: Place) => `${product}/${region}`;

/** Follows from the contract: the id exists before anybody has used the switch. */
const idOf = ({ contractNumber }: World, place: Place) => uuidOfName(`central/${contractNumber}/${rowKeyOf(place)}`);

function shown(world: World, product: Product, call: Call) {
  const { origin } = call;
  const place = placeOf(product, call);
  const { region } = place;
  const id = idOf(world, place);
  const central = world.pipelines.centrals.get(rowKeyOf(place));
  return {
    id,
    type: "central",
    href: hrefOf(origin, product, region, `central/${id}`),
    metadata: {
      ...(central && stampsOf(world, call, central)),
      resourceURN: urnOf(world, services[product], "central", id),
      grafanaEndpoint: dashboardOf(world, origin, region),
      // No product of the simulator forwards metrics.
      ...(product === "metrics" && { products: [] }),
    },
    properties: { enabled: central?.enabled ?? false },
  };
}
