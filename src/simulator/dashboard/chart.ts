import type { Sample } from "../telemetry/samples.ts";
import { type Html, html, nothing } from "./html.ts";
import { amount, clockTime, rangeOf, ticks, timeTicks } from "./scale.ts";

export interface Point {
  x: number;
  y: number;
}

/** The `d` of an SVG path through the points, with a gap where a value is no number. A lone point becomes a dot. */
export function pathThrough(points: readonly Point[]): string {
  const commands: string[] = [];
  let drawing = false;
  for (const { x, y } of points) {
    if (Number.isFinite(y)) commands.push(`${drawing ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`);
    drawing = Number.isFinite(y);
  }
  return commands.length === 1 ? `${commands[0]}h0` : commands.join("");
}

/** One curve of a chart. */
export interface Curve {
  /** The labels that differ from those of the other curves. */
  label: string;
  samples: readonly Sample[];
}

export interface Span {
  from: number;
  to: number;
}

const width = 720;
const height = 240;
const plot = { left: 60, right: 708, top: 12, bottom: 212 };
const mostCurves = 20;
const colours = 8;

/** A metric over time as a picture: a curve per series, axes with times and values, and a legend. */
export function chart(name: string, curves: readonly Curve[], { from, to }: Span): Html {
  const drawn = curves.slice(0, mostCurves);
  const values = drawn.flatMap(({ samples }) => samples.map(({ value }) => value)).filter(Number.isFinite);
  const { low, high } = rangeOf(values);
  const x = (at: number) => plot.left + ((at - from) / (to - from)) * (plot.right - plot.left);
  const y = (value: number) => plot.bottom - ((value - low) / (high - low)) * (plot.bottom - plot.top);
  const valueTicks = ticks(low, high, 4);
  const step = Math.abs((valueTicks[1] ?? high) - (valueTicks[0] ?? low));

  return html`<figure>
<figcaption>${name}</figcaption>
<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${`${name} over time`}">
${valueTicks.map(
  (value) => html`<line class="grid" x1="${plot.left}" x2="${plot.right}" y1="${y(value)}" y2="${y(value)}"/>
<text class="value" x="${plot.left - 6}" y="${y(value) + 4}">${amount(value, step)}</text>
`,
)}${timeTicks(from, to).map(
  (at) => html`<line class="grid" x1="${x(at)}" x2="${x(at)}" y1="${plot.bottom}" y2="${plot.bottom + 4}"/>
<text class="time" x="${x(at)}" y="${height - 8}">${clockTime(at)}</text>
`,
)}${drawn.map(({ label, samples }, index) => {
  const points = samples.map(({ timestamp, value }) => ({ x: x(timestamp), y: y(value) }));
  return html`<path class="curve c${index % colours}" d="${pathThrough(points)}"><title>${label}</title></path>
`;
})}</svg>
<ul class="legend">
${drawn.map(
  ({ label, samples }, index) =>
    html`<li><i class="c${index % colours}"></i>${label} <b>${amount(samples.at(-1)?.value ?? Number.NaN)}</b></li>
`,
)}${curves.length > drawn.length ? html`<li>and ${curves.length - drawn.length} more series, not drawn</li>` : nothing}</ul>
</figure>
`;
}
