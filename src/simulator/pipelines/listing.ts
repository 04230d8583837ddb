import { compare, pageLinks, wholeNumber } from "../core/kind/listing.ts";
import type { Reply } from "../http/exchange.ts";
import { invalid } from "../http/refusal.ts";
import { isListed } from "../store/shown.ts";
import type { World } from "../world.ts";
import { type Pipeline, pipelinesIn } from "./records.ts";
import { hrefOf, type RegionalCall } from "./service.ts";
import { shownPipeline } from "./view.ts";

/** What a list can be ordered by, as the wire names it. */
const orders: Record<string, (pipeline: Pipeline) => unknown> = {
  id: ({ id }) => id,
  name: ({ name }) => name,
  state: ({ state }) => state,
  status: ({ state }) => state,
  createdDate: ({ createdAt }) => createdAt,
  lastModifiedDate: ({ modifiedAt }) => modifiedAt,
};

/** Answers a GET on the pipelines of a region, a page of them; without an order the oldest first. */
export function listPipelines(world: World, call: RegionalCall): Reply {
  const offset = wholeNumber(call, "offset", 0, Number.MAX_SAFE_INTEGER, 0);
  const limit = wholeNumber(call, "limit", 1, 1000, 100);
  const seen = pipelinesIn(world, call.product, call.region).filter((pipeline) => isListed(pipeline, call));
  const href = hrefOf(call.origin, call.product, call.region, "pipelines");
  const page = ordered(seen, call.query.get("orderBy")).slice(offset, offset + limit);
  return {
    status: 200,
    body: {
      id: "pipelines",
      type: "collection",
      href,
      items: page.map((pipeline) => shownPipeline(world, call, pipeline)),
      offset,
      limit,
      _links: pageLinks(call, href, offset, limit, seen.length),
    },
  };
}

/** `-` before the property turns the order round. */
function ordered(pipelines: Pipeline[], orderBy: string | null): Pipeline[] {
  if (orderBy === null || orderBy === "") return pipelines;
  const [, sign, property = ""] = /^(-?)(?:metadata\.|properties\.)?(\w*)$/.exec(orderBy) ?? [];
  const keyOf = Object.hasOwn(orders, property) ? orders[property] : undefined;
  if (keyOf === undefined) {
    throw invalid(
      "orderBy",
      `must be one of ${Object.keys(orders).join(", ")}, with - before it for the other way round`,
    );
  }
  const direction = sign === "-" ? -1 : 1;
  return pipelines.toSorted((a, b) => direction * compare(keyOf(a), keyOf(b)));
}
