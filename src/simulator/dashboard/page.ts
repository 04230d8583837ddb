import { createHash } from "node:crypto";
import { ruleStatuses } from "../alerts.ts";
import type { World } from "../world.ts";
import { logAdvice, metricAdvice } from "./advice.ts";
import { chart } from "./chart.ts";
import { type Html, html, nothing, trusted } from "./html.ts";
import { overview } from "./overview.ts";
import { type Filter, mostLines, type Region } from "./region.ts";
import { clockTime } from "./scale.ts";
import { style } from "./style.ts";
import { tail } from "./tail.ts";

/** Loads the page again and replaces its content, unless the page is hidden or text is selected. */
export const script = `
const note = document.getElementById("note");
async function refresh() {
  if (document.hidden || !getSelection().isCollapsed) return;
  try {
    const answer = await fetch(location.href, { signal: AbortSignal.timeout(4000) });
    if (!answer.ok) throw new Error(answer.status);
    const next = new DOMParser().parseFromString(await answer.text(), "text/html");
    document.querySelector("main").replaceWith(next.querySelector("main"));
    note.textContent = "";
  } catch {
    note.textContent = "The simulator does not answer; this is the last known state.";
  }
}
setInterval(refresh, 5000);
document.querySelector("form").addEventListener("change", (event) => event.currentTarget.requestSubmit());
`;

const allowed = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** The page runs and loads nothing but its own script and style, whatever its text contains. */
export const pageHeaders = {
  "Content-Security-Policy": [
    "default-src 'none'",
    `script-src ${allowed(script)}`,
    `style-src ${allowed(style)}`,
    "img-src data:",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cache-Control": "no-store",
};

export interface PageParts {
  world: World;
  origin: string;
  name: string;
  filter: Filter;
  region: Region;
}

/** The dashboard of a region as a whole page. */
export function page(parts: PageParts): string {
  const { world, name, filter, region } = parts;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Dashboard ${name}</title>
<link rel="icon" href="data:,">
<style>${trusted(style)}</style>
</head>
<body>
<header>
<h1>Dashboard ${name}</h1>
<p class="soft">Metrics and logs of contract ${world.contractNumber} in this region, refreshed every five seconds. Open to everybody on this machine, without a login.</p>
<form method="get">
<label>Metrics with <input name="metric" value="${filter.metric}" placeholder="any name"></label>
<label>Tag <select name="tag"><option value="">all</option>${[...new Set([...region.tags, filter.tag])]
    .filter((tag) => tag !== "")
    .map((tag) =>
      tag === filter.tag ? html`<option selected>${tag}</option>` : html`<option>${tag}</option>`,
    )}</select></label>
<button>Show</button>
</form>
<p id="note" role="status"></p>
</header>
<main>
${alerts(world, name)}${metricsPart(parts)}${logsPart(parts)}${
  region.pipelines.length === 0
    ? nothing
    : html`<h2>Pipelines</h2>
<div class="card">${overview(world, region.pipelines)}</div>
`
}</main>
<script>${trusted(script)}</script>
</body>
</html>
`.markup;
}

function metricsPart({ origin, name, filter, region }: PageParts): Html {
  const { charts, metrics, span } = region;
  if (charts.length === 0) {
    return html`<h2>Metrics</h2>
<div class="card">${
      filter.metric === ""
        ? metricAdvice(origin, name, region.pipelines)
        : html`<p>No metric of the last hour has “${filter.metric}” in its name.</p>`
    }</div>
`;
  }
  return html`<h2>Metrics <span class="soft">${clockTime(span.from)} to ${clockTime(span.to)} UTC</span></h2>
<div class="charts">
${charts.map(([metric, curves]) => chart(metric, curves, span))}</div>
${metrics > charts.length ? html`<p class="soft">${metrics - charts.length} more metrics are not drawn; name the ones you want above.</p>` : nothing}`;
}

function logsPart({ world, origin, name, filter, region }: PageParts): Html {
  if (region.lines.length > 0) {
    return html`<h2>Logs <span class="soft">the newest lines first, at most ${mostLines} of the last 30 days; times in UTC</span></h2>
<div class="card">${tail(region)}</div>
`;
  }
  return html`<h2>Logs <span class="soft">of the last 30 days</span></h2>
<div class="card">${
    filter.tag === ""
      ? logAdvice(origin, name, region.pipelines, world.forwardAddress())
      : html`<p>No line has the tag “${filter.tag}”.</p>`
  }</div>
`;
}

/** The alert rules of a region with their state. */
export function alerts(world: World, region: string): Html {
  const rules = ruleStatuses(world, region);
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
