import { standings } from "../alerts.ts";
import type { World } from "../world.ts";
import { type Html, html, nothing } from "./html.ts";

/** The alert rules of a region and how each of them stands. */
export function alerts(world: World, region: string): Html {
  const rules = standings(world, region);
  if (rules.length === 0) return nothing;
  return html`<h2>Alerts</h2>
<div class="card"><table><thead><tr><th>Rule</th><th>Condition</th><th>State</th><th>Value</th><th>Notifies</th></tr></thead><tbody>
${rules.map(
  ({ name, metric, above, below, state, value, notify }) =>
    html`<tr><td>${name}</td><td>${`${metric} ${above === undefined ? `below ${below}` : `above ${above}`}`}</td><td>${state}</td><td>${value === undefined ? "" : String(value)}</td><td>${notify ?? "nobody"}</td></tr>
`,
)}</tbody></table></div>
`;
}
