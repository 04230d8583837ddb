import { z } from "zod";
import type { Steering } from "../cluster/steering.ts";
import type { Deed } from "./disturbances/by-hand.ts";

const request = z.object({
  method: z.string(),
  url: z.string(),
  createdDate: z.string(),
  createdByUserId: z.string(),
  targets: z.array(z.object({ id: z.string() })),
});
const user = z.object({ id: z.string(), username: z.string() });
const state = z.looseObject({ requests: z.array(request), users: z.array(user) });

/** The last writes that the platform accepted for a manual change, with their users. */
export async function lastWrites(steering: Pick<Steering, "call">, { id, datacenter }: Deed): Promise<string[]> {
  const { requests, users } = state.parse(await steering.call("GET", "/_simulator/state"));
  const nameOf = (userId: string) => users.find((each) => each.id === userId)?.username;
  return requests
    .filter(({ url, targets }) => url.includes(datacenter) && targets.some((each) => each.id === id))
    .sort((a, b) => a.createdDate.localeCompare(b.createdDate))
    .slice(-3)
    .map(({ method, url, createdDate, createdByUserId }) => {
      return `${createdDate} ${nameOf(createdByUserId)}: ${method} ${url.replace(/^https?:..[^/]*/, "")}`;
    });
}
