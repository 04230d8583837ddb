const DOT = 0x2e;
const COLON = 0x3a;
const ZERO = 0x30;

/**
 * The end of the IPv4 or IPv6 address at a position; -1 if there is none. Accepts the same addresses as `node:net`,
 * except zone ids (`%eth0`).
 */
export function endOfAddress(buffer: Buffer, from: number): number {
  const end = endOfIPv4(buffer, from);
  return end >= 0 ? end : endOfIPv6(buffer, from);
}

function endOfIPv4(buffer: Buffer, from: number): number {
  let dots = 0;
  let digits = 0;
  let value = 0;
  for (let at = from; ; at++) {
    const byte = buffer[at] ?? 0;
    const digit = byte - ZERO;
    if (digit >= 0 && digit <= 9) {
      if (digits > 0 && value === 0) return -1;
      digits += 1;
      value = value * 10 + digit;
      if (value > 255) return -1;
    } else if (digits === 0) {
      return -1;
    } else if (byte === DOT && dots < 3) {
      dots += 1;
      digits = 0;
      value = 0;
    } else {
      return dots === 3 ? at : -1;
    }
  }
}

function endOfIPv6(buffer: Buffer, from: number): number {
  let groups = 0;
  let digits = 0;
  let shortened = buffer[from] === COLON && buffer[from + 1] === COLON;
  let at = shortened ? from + 2 : from;
  for (let groupStart = at; ; at++) {
    const byte = buffer[at] ?? 0;
    if (isHex(byte)) {
      if (++digits > 4) return -1;
    } else if (byte === COLON && digits > 0) {
      groups += 1;
      digits = 0;
      groupStart = at + 1;
    } else if (byte === COLON && groups > 0 && !shortened) {
      shortened = true;
      groupStart = at + 1;
    } else if (byte === DOT) {
      // The last 32 bits may be in IPv4 notation.
      at = endOfIPv4(buffer, groupStart);
      groups += 2;
      digits = 0;
      break;
    } else {
      break;
    }
  }
  if (digits > 0) groups += 1;
  // A single colon must be between two groups.
  else if (buffer[at - 1] === COLON && buffer[at - 2] !== COLON) return -1;
  return (shortened ? groups < 8 : groups === 8) ? at : -1;
}

function isHex(byte: number): boolean {
  return (byte >= ZERO && byte <= 0x39) || (byte >= 0x61 && byte <= 0x66) || (byte >= 0x41 && byte <= 0x46);
}
