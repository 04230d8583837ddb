import { z } from "zod";
import type { Steering } from "../cluster/steering.ts";
import type { Deed } from "./by-hand.ts";

const target = z.object({ id: z.string() });
const request = z.object({ method: z.string(), url: z.string(), createdDate: z.string(), targets: z.array(target) });
const state = z.looseObject({ requests: z.array(request) });

/** The last writes that the platform accepted for something that a person had made, in the order of time. */
export async function lastWrites(steering: Pick<Steering, "call">, { id, datacenter }: Deed): Promise<string[]> {
  const { requests } = state.parse(await steering.call("GET", "/_simulator/state"));
  return requests
    .filter(({ url, targets }) => url.includes(datacenter) && targets.some((each) => each.id === id))
    .map(({ method, url, createdDate }) => `${createdDate} ${method} ${url.replace(/^https?:..[^/]*/, "")}`)
    .sort()
    .slice(-3);
}
