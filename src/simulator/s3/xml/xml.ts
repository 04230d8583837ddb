import { fault } from "../fault.ts";

/** An element: its name, its text or the elements in it, and its attributes as they are written. */
export type Xml = readonly [name: string, content: string | number | boolean | readonly Xml[], attributes?: string];

const head = '<?xml version="1.0" encoding="UTF-8"?>\n';
const namespace = ' xmlns="http://s3.amazonaws.com/doc/2006-03-01/"';

/** A whole answer. Errors are the only documents without S3's namespace. */
export function xmlDocument([name, content]: Xml): string {
  return `${head}<${name}${name === "Error" ? "" : namespace}>${inside(content)}</${name}>`;
}

const inside = (content: Xml[1]): string =>
  typeof content === "object" ? content.map(written).join("") : escaped(String(content));

const written = ([name, content, attributes]: Xml): string =>
  `<${name}${attributes === undefined ? "" : ` ${attributes}`}>${inside(content)}</${name}>`;

const escapes: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\r": "&#13;" };

const escaped = (text: string) => text.replace(/[&<>"\r]/g, (each) => escapes[each] ?? each);

/**
 * The contents of every element of a name, in order. Enough for the few documents that S3 takes, where no element
 * holds another one of its own name.
 */
export function elementsIn(xml: string, name: string): string[] {
  const pattern = new RegExp(`<(?:\\w+:)?${name}(?:\\s[^>]*)?(?:/>|>([\\s\\S]*?)</(?:\\w+:)?${name}\\s*>)`, "g");
  return Array.from(xml.matchAll(pattern), ([, content = ""]) => content);
}

/** The text of the first element of a name. */
export function textOf(xml: string, name: string): string | undefined {
  const content = elementsIn(xml, name)[0];
  return content === undefined ? undefined : unescaped(content);
}

const entities: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

export function unescaped(text: string): string {
  return text.replace(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (whole, hex?: string, decimal?: string, name?: string) => {
    if (name !== undefined) return entities[name] ?? whole;
    const point = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    if (point > 0x10ffff) throw fault("MalformedXML", `The XML names a character that does not exist: ${whole}`);
    return String.fromCodePoint(point);
  });
}

/** The content of the root element; refuses a body that is not the document asked for. */
export function rootOf(xml: string, name: string): string {
  const root = elementsIn(xml, name)[0];
  if (root === undefined) throw fault("MalformedXML", `The body is not a ${name} document`);
  return root;
}
