const HEX = "[0-9a-f]";
/**
 * Times, UUIDs, hexadecimal ids, long numbers, and long words of letters and digits. Small numbers stay, because they are
 * codes.
 */
const VARYING = new RegExp(
  [
    String.raw`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?`,
    // Also ids of several parts, such as a UUID.
    String.raw`\b(?=${HEX}*\d|${HEX}{8}-)${HEX}{8,}(?:-\w+)*\b`,
    String.raw`\b\d{5,}\b`,
    String.raw`\b(?=\w*\d)(?=\w*[a-z])\w{16,}\b`,
  ].join("|"),
  "gi",
);

/** A message without the parts that differ between two answers. */
export const withoutVarying = (message: string): string => message.replace(VARYING, "…");

/** Whether two messages are equal apart from ids and times, which differ in each answer. */
export const isSameAnswer = (one = "", other = ""): boolean =>
  one === other || withoutVarying(one) === withoutVarying(other);
