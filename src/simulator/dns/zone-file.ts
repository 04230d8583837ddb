import { z } from "zod";
import { invalid } from "../http/refusal.ts";
import { type DnsRecord, fqdnOf, nameServers, recordTypes, type Zone } from "../records/dns.ts";
import type { Own, Row } from "../records/life.ts";
import { recordShape, withPriority } from "./content.ts";

/** Types whose content, or its last part, is a name. */
const endsWithName: ReadonlySet<string> = new Set(["CNAME", "ALIAS", "NS", "MX", "SRV"]);

/** Serial numbers follow from the time of the last change. */
const serialOf = (at: number) => Math.floor(at / 1000) % 2 ** 32;

/** The zone as a BIND file, with the enabled records only. */
export function zoneFile(zone: Row<Own<Zone>>, records: readonly Row<Own<DnsRecord>>[]): string {
  const { zoneName } = zone.own;
  const serial = serialOf(Math.max(zone.modifiedAt, ...records.map(({ modifiedAt }) => modifiedAt)));
  const lines = records
    .filter(({ own }) => own.enabled)
    .map(({ own: { name, type, content, ttl, priority } }) => {
      const rank = priority === null ? "" : `${priority} `;
      return `${name === "" ? "@" : name}\t${ttl}\tIN\t${type}\t${rank}${contentInFile(type, content)}`;
    });
  return [
    `$ORIGIN ${zoneName}.`,
    "$TTL 3600",
    `@\t3600\tIN\tSOA\t${nameServers[0]}. hostmaster.${zoneName}. ${serial} 28800 7200 604800 300`,
    ...nameServers.map((name) => `@\t86400\tIN\tNS\t${name}.`),
    ...lines,
    "",
  ].join("\n");
}

/** The content of a record as a zone file has it. */
function contentInFile(type: string, content: string): string {
  if (endsWithName.has(type)) return content.endsWith(".") ? content : `${content}.`;
  if (type !== "TXT") return content;
  // One string of a TXT record has at most 255 characters.
  const parts = content.match(/.{1,255}/gs) ?? [""];
  return parts.map((part) => `"${part.replaceAll(/["\\]/g, "\\$&")}"`).join(" ");
}

type Token = { text: string; quoted: boolean };

/**
 * One entry per record: parentheses join lines, `;` begins a comment. `blank`: the line
 * begins with white space, so it has the owner of the record before it.
 */
function* entriesOf(text: string): Generator<{ line: number; blank: boolean; tokens: Token[] }> {
  let depth = 0;
  let entry = { line: 1, blank: false, tokens: [] as Token[] };
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (depth === 0) entry = { line: index + 1, blank: /^\s/.test(line), tokens: [] };
    for (const [, quoted, sign, word] of line.matchAll(/"((?:[^"\\]|\\.)*)"|([();])|([^\s"();]+)/g)) {
      if (sign === ";") break;
      if (sign === "(") depth += 1;
      else if (sign === ")") depth -= 1;
      else if (quoted !== undefined) entry.tokens.push({ text: quoted.replaceAll(/\\(.)/g, "$1"), quoted: true });
      else entry.tokens.push({ text: word ?? "", quoted: false });
    }
    if (depth < 0) throw invalid("(root)", `line ${index + 1}: there is a ) without (`);
    if (depth === 0 && entry.tokens.length > 0) yield entry;
  }
  if (depth > 0) throw invalid("(root)", `line ${entry.line}: there is a ( without )`);
}

const seconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/** The seconds of `3600`, `1h` or `1d12h`; undefined: the text is no time. */
function ttlIn(text: string | undefined): number | undefined {
  if (text === undefined || !/^(\d+[smhdw]?)+$/i.test(text)) return undefined;
  return [...text.matchAll(/(\d+)([smhdw]?)/gi)].reduce(
    (sum, [, count, unit]) => sum + Number(count) * (seconds[(unit || "s").toLowerCase()] ?? 1),
    0,
  );
}

/** The records of a BIND file, without SOA and the NS records of the zone, which the platform sets. */
export function recordsIn(text: string, zoneName: string): Omit<DnsRecord, "zoneId">[] {
  const found: Omit<DnsRecord, "zoneId">[] = [];
  let origin = zoneName;
  let defaultTtl = 3600;
  let owner = zoneName;
  const absolute = (name: string) =>
    (name === "@" ? origin : name.endsWith(".") ? name.slice(0, -1) : fqdnOf(name, origin)).toLowerCase();
  for (const { line, blank, tokens } of entriesOf(text)) {
    const fault = (message: string) => invalid("(root)", `line ${line}: ${message}`);
    const [first, second] = tokens;
    if (first?.text === "$ORIGIN") {
      origin = absolute(second?.text ?? "@");
      continue;
    }
    if (first?.text === "$TTL") {
      defaultTtl = ttlIn(second?.text) ?? defaultTtl;
      continue;
    }
    if (first?.text.startsWith("$")) throw fault(`${first.text} is not supported`);
    const rest = blank ? [...tokens] : tokens.slice(1);
    if (!blank) owner = absolute(first?.text ?? "@");
    let ttl = defaultTtl;
    // Time and class come in either order.
    for (let next = rest[0]?.text; next !== undefined; next = rest[0]?.text) {
      const time = ttlIn(next);
      if (time !== undefined) ttl = time;
      else if (next.toUpperCase() !== "IN") break;
      rest.shift();
    }
    const type = rest.shift()?.text.toUpperCase() ?? "";
    if (owner !== zoneName && !owner.endsWith(`.${zoneName}`)) throw fault(`${owner} is not in the zone ${zoneName}`);
    const name = owner === zoneName ? "" : owner.slice(0, -zoneName.length - 1);
    if (type === "SOA" || (type === "NS" && name === "")) continue;
    if (!recordTypes.some((each) => each === type)) throw fault(`the type ${type} is not supported`);
    const priority = withPriority.has(type) ? Number(rest.shift()?.text) : undefined;
    const values = rest.map((token, index) =>
      endsWithName.has(type) && index === rest.length - 1 ? absolute(token.text) : plain(type, token),
    );
    const content = values.join(type === "TXT" ? "" : " ");
    const parsed = recordShape.safeParse({ name, type, content, ttl, priority });
    if (!parsed.success) throw fault(z.prettifyError(parsed.error).split("\n")[0] ?? "is not valid");
    found.push(parsed.data);
  }
  return found;
}

const plain = (type: string, { text, quoted }: Token) => (quoted && type !== "TXT" ? `"${text}"` : text);
