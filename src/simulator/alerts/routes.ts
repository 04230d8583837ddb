import { rulesSchema, setRules, standings } from "../alerts.ts";
import { checked, objectIn } from "../core/kind/body.ts";
import type { Route } from "../http/exchange.ts";
import type { World } from "../world.ts";

/** The alert rules of the dashboards: shown with their state, and replaced as a whole. */
export function alertRoutes(world: World): Route[] {
  const route = (method: "GET" | "PUT", change: (body: string) => void): Route => ({
    method,
    template: "/_simulator/alerts",
    access: "steering",
    handle({ body }) {
      change(body);
      return { status: 200, body: { rules: standings(world) }, indent: true };
    },
  });
  return [
    route("GET", () => {}),
    route("PUT", (body) => setRules(world, checked(rulesSchema, objectIn(body), "(root)").rules)),
  ];
}
