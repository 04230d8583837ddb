import { uuidOfName } from "../chance.ts";
import { type Resource, textIn } from "../store/resource.ts";
import type { Line } from "../telemetry/lines.ts";
import type { World } from "../world.ts";

/** How often a product sends a line, in simulated milliseconds. */
const lineInterval = 60_000;
/** After a jump of the clock only the lines of its last hour are made. */
const longestCatchUp = 3_600_000;

const products = ["applicationloadbalancer", "networkloadbalancer"] as const;

/** The id that the lines of central logging are stored under. */
export const centralLinesId = ({ contractNumber }: World, region: string) =>
  uuidOfName(`central-lines/${contractNumber}/${region}`);

export const productTags: readonly string[] = products;

const isOn = ({ pipelines: { centrals } }: World, region: string) => centrals.get(`logs/${region}`)?.enabled === true;

/** Schedules the next lines of the products of a region, and so on while central logging is on. */
export function watchProducts(world: World, region: string, since: number): void {
  const regions = watched.get(world) ?? new Set();
  // Switched off and on again before the next line: the schedule is still there.
  if (regions.has(region)) return;
  watched.set(world, regions.add(region));
  const from = Math.max(since, world.clock.now() - longestCatchUp);
  world.agenda.schedule((Math.floor(from / lineInterval) + 1) * lineInterval, (at) => {
    regions.delete(region);
    if (!isOn(world, region)) return;
    world.lines.add(centralLinesId(world, region), linesOf(world, region, at));
    watchProducts(world, region, at);
  });
}

/** Regions whose next line is scheduled. */
const watched = new WeakMap<World, Set<string>>();

/** Resumes after a restart. */
export function resumeProducts(world: World): void {
  for (const { product, region } of world.pipelines.centrals.values()) {
    if (product === "logs") watchProducts(world, region, world.clock.now());
  }
}

function linesOf(world: World, region: string, at: number): Line[] {
  return world.viewer.asPlatform(() =>
    products.flatMap((type) =>
      [...world.resources.ofType(type)].flatMap((each) =>
        forwards(world, region, each) ? [lineOf(each, type, at)] : [],
      ),
    ),
  );
}

/** Whether the resource forwards its logs to the region; `de/fra/2` is in de-fra. */
function forwards(world: World, region: string, { key, state, properties }: Resource): boolean {
  const datacenter = world.resources.get(key.split("/").slice(0, 2).join("/"));
  const [country, site] = (textIn(datacenter?.properties ?? {}, "location") ?? "").split("/");
  return properties.centralLogging === true && state === "AVAILABLE" && `${country}-${site}` === region;
}

function lineOf({ id, properties }: Resource, tag: string, at: number): Line {
  const name = textIn(properties, "name") ?? "";
  return { tag, at, record: { message: `${name}: listener is up, "GET / HTTP/1.1" 200`, product: tag, id, name } };
}
