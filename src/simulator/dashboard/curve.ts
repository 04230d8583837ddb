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
