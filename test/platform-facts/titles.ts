import { parseAst } from "rolldown/parseAst";

/** A test, or a group of tests: its title, and the texts of its table. */
interface Title {
  title: string;
  rows: ReadonlySet<string>;
}

type Node = Readonly<Record<string, unknown>>;
const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && "type" in value;
const nodesIn = (value: unknown): Node[] => (Array.isArray(value) ? value : [value]).filter(isNode);

/** The node and all below it. */
function all(node: Node, found: Node[] = []): Node[] {
  found.push(node);
  for (const value of Object.values(node)) for (const child of nodesIn(value)) all(child, found);
  return found;
}

/** A text in the source; what a template fills in is left out. */
function textOf({ type, value, quasis }: Node): string | undefined {
  if (type === "Literal") return typeof value === "string" ? value : undefined;
  if (type !== "TemplateLiteral") return undefined;
  return nodesIn(quasis)
    .map((quasi) => String(Reflect.get(Object(quasi.value), "cooked")))
    .join("");
}

/**
 * The arguments of `each` in `it.each(table)`; undefined if the callee is none of `it`, `test` and `describe`, or does not
 * run what it is given.
 */
function tableOf(callee: Node): Node[] | undefined {
  const [object] = nodesIn(callee.object);
  if (nodesIn(callee.property).some(({ name }) => name === "skip" || name === "todo")) return undefined;
  if (callee.type === "Identifier") return ["it", "test", "describe"].includes(String(callee.name)) ? [] : undefined;
  if (object) return tableOf(object);
  const [inner] = nodesIn(callee.callee);
  if (!inner) return undefined;
  const isEach = nodesIn(inner.property).some(({ name }) => name === "each");
  return tableOf(inner) && (isEach ? nodesIn(callee.arguments) : []);
}

/** The texts of a table, also those that it has by the name of a constant. */
function textsIn(node: Node, constants: ReadonlyMap<unknown, Node>, seen = new Set<Node>()): string[] {
  return all(node).flatMap((each) => {
    const constant = each.type === "Identifier" ? constants.get(each.name) : undefined;
    if (!constant || seen.has(constant)) return textOf(each) ?? [];
    return textsIn(constant, constants, seen.add(constant));
  });
}

/** The titles in the source of a file with tests. */
export function titlesIn(source: string): Title[] {
  const nodes = all({ ...parseAst(source, { lang: "ts" }) });
  const declared = nodes.filter(({ type }) => type === "VariableDeclarator");
  const constants = new Map(
    declared.flatMap(({ id, init }) => nodesIn(id).flatMap(({ name }) => nodesIn(init).map((value) => [name, value]))),
  );
  return nodes.flatMap(({ type, callee, arguments: given }) => {
    const [called] = type === "CallExpression" ? nodesIn(callee) : [];
    const [first] = nodesIn(given);
    const [title, table] = [first && textOf(first), called && tableOf(called)];
    if (title === undefined || table === undefined) return [];
    return [{ title, rows: new Set(table.flatMap((each) => textsIn(each, constants))) }];
  });
}
