/**
 * Which of the values from `first` up to `end` to show when no more than `most` can be: of each of many short spans the
 * lowest and the highest, in their order, so that peaks stay.
 */
export function shownIndexes(values: readonly number[], first: number, end: number, most: number): number[] {
  const count = Math.max(0, end - first);
  if (count <= most) return Array.from({ length: count }, (_, index) => first + index);
  const spans = Math.floor(most / 2);
  return Array.from({ length: spans }).flatMap((_, span) => {
    const from = first + Math.floor((span * count) / spans);
    const to = first + Math.floor(((span + 1) * count) / spans);
    let [lowest, highest] = [from, from];
    for (let index = from; index < to; index += 1) {
      const value = values[index] ?? Number.NaN;
      if (value < (values[lowest] ?? 0)) lowest = index;
      if (value > (values[highest] ?? 0)) highest = index;
    }
    return lowest === highest ? [lowest] : [Math.min(lowest, highest), Math.max(lowest, highest)];
  });
}
