/** External text for messages: at most `most` characters, without control characters. */
export function visible(text: string, most: number): string {
  const shown = text.slice(0, most).replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, "?");
  return text.length > most ? `${shown}…` : shown;
}
