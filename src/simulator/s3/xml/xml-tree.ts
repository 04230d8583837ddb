import { fault } from "../fault.ts";
import { unescaped, type Xml } from "./xml.ts";

/** An element of a received document. */
export interface Element {
  name: string;
  text: string;
  children: Element[];
}

const malformed = (message: string) => fault("MalformedXML", message);
const tokens = /<\?[^>]*\?>|<!--[\s\S]*?-->|<(\/?)(?:[\w.-]+:)?([\w.-]+)(?:\s[^<>]*?)?(\/?)>|([^<]+)/g;

/** Reads a whole document; attributes and namespaces do not matter. */
export function treeOf(xml: string, root: string): Element {
  const top: Element = { name: "", text: "", children: [] };
  const open = [top];
  let read = 0;
  for (const [whole, closes, name, empty, text] of xml.matchAll(tokens)) {
    read += whole.length;
    const inner = open.at(-1) ?? top;
    if (text !== undefined) inner.text += unescaped(text);
    if (name === undefined) continue;
    if (closes === "/") {
      if (open.length === 1 || inner.name !== name) throw malformed(`</${name}> closes nothing`);
      open.pop();
      continue;
    }
    const element: Element = { name, text: "", children: [] };
    inner.children.push(element);
    if (empty !== "/") open.push(element);
  }
  const [only] = top.children;
  if (read !== xml.length || open.length > 1 || only === undefined) throw malformed("The body is not well-formed XML");
  if (only.name !== root) throw malformed(`The body is not a ${root} document`);
  return only;
}

/**
 * The shape of a document: the names of elements, each with the elements in it or a test of its text. A name ends with
 * `?` when it may be missing, with `+` when there may be several, and with `*` when both.
 */
export interface Shape {
  readonly [name: string]: Shape | ((text: string) => boolean);
}

/** The elements in the order of the shape; refuses what the shape does not know. */
export function shaped(element: Element, shape: Shape): Xml[] {
  const fields = Object.entries(shape).map(([field, content]) => ({
    name: field.replace(/[?*+]$/, ""),
    field,
    content,
  }));
  for (const { name } of element.children) {
    if (!fields.some((field) => field.name === name)) throw malformed(`${element.name} has no element ${name}`);
  }
  return fields.flatMap(({ name, field, content }) => {
    const found = element.children.filter((child) => child.name === name);
    if (found.length === 0 && !/[?*]$/.test(field)) throw malformed(`${element.name} needs an element ${name}`);
    if (found.length > 1 && !/[+*]$/.test(field)) throw malformed(`${element.name} has more than one ${name}`);
    return found.map((child): Xml => {
      if (typeof content !== "function") return [name, shaped(child, content)];
      const text = child.text.trim();
      if (child.children.length > 0 || !content(text)) throw malformed(`${name} of ${element.name} is not valid`);
      return [name, text];
    });
  });
}
