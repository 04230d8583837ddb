/** Elements around a list, with the name of its members. The list replaces the element, even if it has no member. */
const lists: Record<string, string> = { Buckets: "Bucket", TagSet: "Tag" };
/** Elements that may occur several times. They become a list, even if there is only one. */
const repeated = new Set([
  ...["Contents", "CommonPrefixes", "Version", "DeleteMarker", "CORSRule", "Rule", "Rules", "Bucket", "Tag"],
  ...["AllowedHeader", "AllowedMethod", "AllowedOrigin", "ExposeHeader"],
]);

const entities: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
const text = (raw: string): string =>
  raw.replaceAll(
    /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{1,8}));/gi,
    (entity, decimal?: string, hex?: string, name = "") => {
      const point = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
      if (Number.isNaN(point)) return entities[name] ?? entity;
      return point <= 0x10ffff ? String.fromCodePoint(point) : entity;
    },
  );

interface Element {
  name: string;
  words: string;
  children: [string, unknown][];
}

function contentOf({ name, words, children }: Element): unknown {
  if (children.length === 0) return lists[name] ? [] : text(words);
  const value: Record<string, unknown> = {};
  for (const [key, child] of children) {
    const before = value[key];
    if (repeated.has(key)) value[key] = Array.isArray(before) ? [...before, child] : [child];
    else value[key] = child;
  }
  const inner = lists[name];
  return inner !== undefined && Array.isArray(value[inner]) ? value[inner] : value;
}

const DEEPEST = 32;

/**
 * The content of an XML document of object storage: elements become fields, without attributes, comments and
 * namespaces. Throws if it is not XML.
 */
export function fromXml(xml: string): unknown {
  const open: Element[] = [];
  let root: unknown;
  for (const [, closing, name = "", empty, words] of xml.matchAll(
    /<(\/)?([A-Za-z][\w:.-]*)(?:\s[^<>]*?)?(\/)?>|([^<]+)/g,
  )) {
    const current = open.at(-1);
    if (words !== undefined) {
      if (current) current.words += words;
      continue;
    }
    if (!closing) open.push({ name, words: "", children: [] });
    if (open.length > DEEPEST) throw new Error("the answer is nested too deep");
    if (!closing && !empty) continue;
    const done = open.pop();
    if (done?.name !== name) throw new Error("the answer is not XML");
    const parent = open.at(-1);
    if (parent) parent.children.push([name, contentOf(done)]);
    else root = contentOf(done);
  }
  if (root === undefined || open.length > 0) throw new Error("the answer is not XML");
  return root;
}
