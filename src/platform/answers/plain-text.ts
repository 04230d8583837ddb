/** External text on one line: without control, format or line characters, and not longer than `limit`. */
export function plainText(text: string, limit = 1_024): string {
  const line = text
    .slice(0, limit * 4)
    .replace(/[\s\u0085]+/gu, " ")
    .replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, "")
    .trim();
  return line.length <= limit ? line : `${line.slice(0, limit - 1).replace(/\p{Cs}$/u, "")}…`;
}
