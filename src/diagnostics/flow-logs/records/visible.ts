/** Text from elsewhere as people may see it: not longer than `most`, and without anything that a terminal would obey. */
export function visible(text: string, most: number): string {
  const shown = text.slice(0, most).replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, "?");
  return text.length > most ? `${shown}…` : shown;
}
