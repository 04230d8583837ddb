/** Hop-by-hop headers, and the length, which is set again. */
const ofConnection = new Set(["connection", "keep-alive", "transfer-encoding", "content-length", "expect"]);

/** The headers that a proxy passes on. */
export function passedOn(headers: NodeJS.Dict<string | string[]>): Record<string, string | string[]> {
  const passed: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !ofConnection.has(name)) passed[name] = value;
  }
  return passed;
}

/** Whether the answer to a call is a stream without an end. */
export const isWatch = (url: string): boolean => /[?&]watch=true\b/.test(url);
