import type { Route } from "../http/exchange.ts";
import type { S3Client } from "../storage/client.ts";
import type { World } from "../world.ts";
import { makeBucket } from "./buckets.ts";
import { makeCompute, makeRecent } from "./compute.ts";
import { createInsideCaller } from "./inside.ts";
import { makeAccessKey, makeCertificates, makeDns } from "./services.ts";

const oneDay = 86_400_000;

/** The age of the demo contract, so that there are invoices. */
export const demoAge = 100 * oneDay;

/** The last changes are this old. */
const recent = 600_000;

/**
 * Fills a contract with one of everything that can be read. The platform's clock has to be `demoAge` behind: most
 * of it was made then, the rest in the last minutes. `s3` is absent where the object storage is not the built-in one.
 */
export async function makeDemoData(
  world: World,
  routes: readonly Route[],
  origin: string,
  s3: S3Client | undefined,
): Promise<void> {
  const inside = createInsideCaller(world, routes, origin);
  const began = world.clock.now();
  const compute = await makeCompute(world, inside);
  const zone = await makeDns(inside, compute.ips);
  await makeCertificates(world, inside);
  await makeAccessKey(inside);
  if (s3 !== undefined) await makeBucket(s3);
  const advanceTo = (instant: number) => {
    world.clock.advance(Math.max(0, instant - world.clock.now()));
    world.agenda.run();
  };
  advanceTo(began + demoAge - recent);
  await makeRecent(inside, compute);
  await inside.made(`${zone}/records`, { name: "_dmarc", type: "TXT", content: "v=DMARC1; p=reject" });
  await inside.call("GET", "/certificate-manager/certificates");
  advanceTo(began + demoAge);
}
