import type { Method, Route } from "./exchange.ts";

export type Match =
  | { kind: "route"; route: Route; params: Record<string, string> }
  | { kind: "wrong-method"; allowed: Method[] }
  | { kind: "no-path" };

interface Node {
  literal: Map<string, Node>;
  parameter: Node | undefined;
  routes: Map<string, { route: Route; names: string[] }>;
}

const emptyNode = (): Node => ({ literal: new Map(), parameter: undefined, routes: new Map() });

/** Matches by segment; a literal segment wins over a `{parameter}`. A trailing slash does not matter. */
export function createRouter(routes: Iterable<Route>): (method: string, path: string) => Match {
  const root = emptyNode();
  for (const route of routes) {
    let node = root;
    const names: string[] = [];
    for (const segment of segmentsOf(route.template)) {
      if (segment.startsWith("{")) {
        names.push(segment.slice(1, -1));
        node.parameter ??= emptyNode();
        node = node.parameter;
      } else {
        const next = node.literal.get(segment) ?? emptyNode();
        node.literal.set(segment, next);
        node = next;
      }
    }
    if (node.routes.has(route.method)) throw new Error(`two routes for ${route.method} ${route.template}`);
    node.routes.set(route.method, { route, names });
  }

  return (method, path) => {
    const found = find(root, segmentsOf(path), 0, []);
    if (found === undefined) return { kind: "no-path" };
    const entry = found.node.routes.get(method);
    if (entry === undefined) {
      return { kind: "wrong-method", allowed: [...found.node.routes.values()].map((each) => each.route.method) };
    }
    const params: Record<string, string> = {};
    for (const [index, name] of entry.names.entries()) {
      const value = decode(found.values[index] ?? "");
      if (value === undefined) return { kind: "no-path" };
      params[name] = value;
    }
    return { kind: "route", route: entry.route, params };
  };
}

function find(
  node: Node,
  segments: string[],
  index: number,
  values: string[],
): { node: Node; values: string[] } | undefined {
  const segment = segments[index];
  if (segment === undefined) return node.routes.size > 0 ? { node, values } : undefined;
  const literal = node.literal.get(segment);
  const found = literal && find(literal, segments, index + 1, values);
  if (found !== undefined) return found;
  return node.parameter && find(node.parameter, segments, index + 1, [...values, segment]);
}

function segmentsOf(path: string): string[] {
  const segments = path.split("/").slice(1);
  if (segments.at(-1) === "") segments.pop();
  return segments;
}

function decode(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
