import type { Pipeline } from "../records/pipelines.ts";
import type { World } from "../world.ts";
import { type Html, html, nothing } from "./html.ts";

/** The pipelines of a region: what each has received, and what of that was lost and why. */
export function overview(world: World, pipelines: readonly Pipeline[]): Html {
  if (pipelines.length === 0) return nothing;
  return html`<table>
<thead><tr><th>Pipeline</th><th>State</th><th>Received</th><th>Lost</th></tr></thead>
<tbody>
${pipelines.map((pipeline) => {
  const { received, lost } = accountOf(world, pipeline);
  return html`<tr><td>${pipeline.name}</td><td>${pipeline.state}</td><td>${received}</td><td>${lost}</td></tr>
`;
})}</tbody>
</table>
`;
}

function accountOf(world: World, { id, product }: Pipeline): { received: string; lost: string } {
  switch (product) {
    case "metrics": {
      const { series, samples, droppedSamples } = world.samples.counts(id);
      return {
        received: `${samples} samples in ${series} series`,
        lost: droppedSamples === 0 ? "nothing" : `${droppedSamples} old samples, to make room`,
      };
    }
    case "logs": {
      const { lines, dropped, refused } = world.lines.counts(id);
      const losses = [
        ...(dropped === 0 ? [] : [`${dropped} old lines, to make room`]),
        ...(refused.count === 0 ? [] : [`${refused.count} lines refused: ${refused.reason}`]),
      ];
      return { received: `${lines} lines`, lost: losses.join("; ") || "nothing" };
    }
  }
}
