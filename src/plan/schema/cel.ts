import { isIP, isIPv4 } from "node:net";
import { Environment } from "@marcbachmann/cel-js";

/** IP addresses and networks as the CEL library of the API server defines them. */
class Ip {
  readonly text: string;
  readonly bits: bigint;
  constructor(text: string) {
    this.text = text;
    this.bits = bitsOf(text);
  }
}
class Cidr {
  readonly bits: bigint;
  readonly address: Ip;
  readonly length: number;
  constructor(address: Ip, length: number, bits = address.bits) {
    this.address = address;
    this.length = length;
    this.bits = bits;
  }
}

const cidrOf = (text: string): Cidr => {
  const [address = "", length = ""] = text.split("/");
  return new Cidr(new Ip(address), Number(length));
};

const widthOf = ({ text }: Ip): number => (isIPv4(text) ? 32 : 128);
const isSame = (one: Cidr, other: Cidr): boolean =>
  widthOf(one.address) === widthOf(other.address) && one.length === other.length && one.bits === other.bits;

/** The network of an address, with the prefix length of another network. */
function masked({ address, length }: Cidr, { bits }: Ip = address): Cidr {
  const rest = BigInt(widthOf(address) - length);
  return new Cidr(address, length, (bits >> rest) << rest);
}

function bitsOf(text: string): bigint {
  if (isIPv4(text)) return text.split(".").reduce((sum, part) => (sum << 8n) | BigInt(part), 0n);
  // The URL parser returns the canonical form of an IPv6 address, without dots.
  const [head = "", tail] = new URL(`http://[${text}]`).hostname.slice(1, -1).split("::");
  const groups = (part: string | undefined) => (part ? part.split(":") : []);
  const [front, back] = [groups(head), groups(tail)];
  const middle = tail === undefined ? [] : Array.from({ length: 8 - front.length - back.length }, () => "0");
  return [...front, ...middle, ...back].reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n);
}

function isCidr(text: string): boolean {
  const [address = "", length = "", ...more] = text.split("/");
  if (more.length > 0 || isIP(address) === 0 || !/^\d{1,3}$/.test(length)) return false;
  return Number(length) <= (isIPv4(address) ? 32 : 128);
}

const contains = (network: Cidr, address: Ip): boolean =>
  widthOf(network.address) === widthOf(address) && masked(network).bits === masked(network, address).bits;

/** CEL functions of the API server that Mooring's rules use. */
const environment = new Environment({
  unlistedVariablesAreDyn: true,
  enableOptionalTypes: true,
  homogeneousAggregateLiterals: false,
  limits: { maxAstNodes: 1_000_000, maxDepth: 5_000 },
})
  .registerType("Ip", Ip)
  .registerType("Cidr", Cidr)
  .registerFunction("isIP(string): bool", (text: string) => isIP(text) !== 0)
  .registerFunction("isCIDR(string): bool", isCidr)
  .registerFunction("ip(string): Ip", (text: string) => new Ip(text))
  .registerFunction("cidr(string): Cidr", cidrOf)
  .registerFunction("Ip.family(): int", ({ text }: Ip) => (isIPv4(text) ? 4n : 6n))
  .registerFunction("Cidr.ip(): Ip", ({ address }: Cidr) => address)
  .registerFunction("Cidr.prefixLength(): int", ({ length }: Cidr) => BigInt(length))
  .registerFunction("Cidr.masked(): Cidr", (cidr: Cidr) => masked(cidr))
  .registerOperator("Cidr == Cidr", isSame)
  .registerFunction("Cidr.containsIP(Ip): bool", contains)
  .registerFunction("Cidr.containsIP(string): bool", (cidr: Cidr, text: string) => contains(cidr, new Ip(text)))
  .registerFunction("string.replace(string, string): string", (text: string, from: string, to: string) =>
    text.replaceAll(from, to),
  )
  .registerFunction("string.fits(string): bool", (text: string, pattern: string) =>
    new RegExp(pattern, "u").test(text),
  );

type Evaluate = (context: Record<string, unknown>) => unknown;
const parsed = new Map<string, Evaluate>();

export function evaluate(expression: string, context: Record<string, unknown>): unknown {
  const known = parsed.get(expression);
  const run: Evaluate = known ?? environment.parse(rewritten(expression));
  if (!known) parsed.set(expression, run);
  return run(context);
}

/**
 * Rewrites expressions that the library does not support: `matches` has no classes such as \p{Cc}, `has` does not
 * accept the result of a call, and optional values are never equal.
 */
const rewritten = (expression: string): string =>
  expression
    .replaceAll(".matches(", ".fits(")
    .replaceAll(
      /has\((\w+\.value\(\))((?:\.\w+)+)\)/g,
      (_, value, path) => `${value}${path.replaceAll(".", ".?")}.hasValue()`,
    )
    .replaceAll(
      /\[self((?:\.\w+)*\.\?[\w.?]+)\] == \[oldSelf\1\]/g,
      "[self$1.orValue(null)] == [oldSelf$1.orValue(null)]",
    );
