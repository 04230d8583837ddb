/** Flow log lines of a busy network: a few hosts with most of the traffic, and many with little. */
export function createTraffic(seed = 1): { lines(bytes: number): Buffer } {
  let state = seed;
  // mulberry32: the low bits have no pattern that gzip could compress.
  const below = (most: number) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % most;
  };
  const ports = [443, 80, 22, 53, 5432, 9093, 8080, 25];
  const interfaces = Array.from({ length: 4 }, () => `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`);
  let time = 1_767_225_600;

  function hex(digits: number): string {
    return Array.from({ length: digits }, () => below(16).toString(16)).join("");
  }
  const pick = <T>(from: readonly T[]): T | undefined => from[below(from.length)];
  const address = () => {
    const host = below(4) > 0 ? below(50) : below(60_000);
    return below(10) > 0
      ? `10.${host >> 12}.${(host >> 6) & 63}.${host & 63}`
      : `2001:db8:${(host >> 8).toString(16)}::${(host & 255).toString(16)}`;
  };
  const line = () => {
    const packets = 1 + below(5_000);
    const start = time + below(60);
    const numbers = `${1024 + below(64_000)} ${pick(ports)} ${below(4) > 0 ? 6 : 17} ${packets} ${packets * below(1_400)}`;
    const verdict = `${below(8) > 0 ? "ACCEPT" : "REJECT"} OK`;
    return `2 12345678 ${pick(interfaces)} ${address()} ${address()} ${numbers} ${start} ${start + below(60)} ${verdict}\n`;
  };

  return {
    /** At least this many bytes of whole lines, ten minutes later than the previous ones. */
    lines(bytes) {
      const parts: string[] = [];
      for (let length = 0; length < bytes; ) {
        const text = line();
        parts.push(text);
        length += text.length;
      }
      time += 600;
      return Buffer.from(parts.join(""), "latin1");
    },
  };
}
