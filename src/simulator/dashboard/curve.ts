import type { Sample } from "../ingest/samples.ts";

export interface Point {
  x: number;
  y: number;
}

/** At most this many points are drawn per curve; a screen does not show more. */
const columns = 300;

/** The samples to draw of a long series: of each of many short spans the lowest and the highest, so that peaks stay. */
export function thinned(samples: readonly Sample[]): readonly Sample[] {
  if (samples.length <= 2 * columns) return samples;
  const width = samples.length / columns;
  return Array.from({ length: columns }).flatMap((_, column) => {
    const span = samples.slice(Math.floor(column * width), Math.floor((column + 1) * width));
    const lowest = span.reduce((a, b) => (b.value < a.value ? b : a));
    const highest = span.reduce((a, b) => (b.value > a.value ? b : a));
    return lowest.timestamp < highest.timestamp ? [lowest, highest] : [highest, lowest];
  });
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
