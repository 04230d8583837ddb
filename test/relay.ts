/** Headers that speak of one connection only, or of a length that is set anew. */
const ofConnection = new Set(["connection", "keep-alive", "transfer-encoding", "content-length", "expect"]);

/** The headers that a proxy hands on. */
export function passedOn(headers: NodeJS.Dict<string | string[]>): Record<string, string | string[]> {
  const passed: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !ofConnection.has(name)) passed[name] = value;
  }
  return passed;
}

/** Whether the answer to a call comes bit by bit and has no end of its own. */
export const isWatch = (url: string): boolean => /[?&]watch=true\b/.test(url);
