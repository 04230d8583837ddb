import { objectOf } from "../engine/accounts/accounts.ts";
import { namedBy, type ObjectKey } from "../engine/state/object.ts";
import { readStatus } from "../engine/status/status.ts";
import { plainText } from "../platform/answers/plain-text.ts";
import { allObjects, isReady, type MooringObject, type ObjectAsked, objectNamed, readyOf } from "./objects.ts";
import type { Sources } from "./sources.ts";

interface Node {
  object: ObjectKey;
  /** The role: datacenter, server, account. */
  as: string;
  ready: boolean;
  reason: string;
  next: Node[];
}

const DEEPEST = 8;
const ACCOUNT = "account";

/** The dependencies and dependents of an object, at any depth. */
export async function dependencyTree(sources: Sources, asked: ObjectAsked) {
  const cluster = await sources.cluster();
  const start = await objectNamed(cluster, asked, sources.signal);
  const all = await allObjects(sources, undefined);
  const needs = (each: MooringObject) => [
    ...namedBy(each.kind, each.object).map(({ key, field }) => ({ key, as: field })),
    ...accountsOf(each).map((key) => ({ key, as: ACCOUNT })),
  ];
  const dependents = new Map<ObjectKey, { key: ObjectKey; as: string }[]>();
  for (const each of all.values()) {
    for (const { key, as } of needs(each)) {
      const known = dependents.get(key);
      if (!known) dependents.set(key, [{ key: each.key, as }]);
      // One entry per object, however often it is referenced.
      else if (known.at(-1)?.key !== each.key) known.push({ key: each.key, as });
    }
  }
  const nodeOf = (
    key: ObjectKey,
    as: string,
    neighbours: (key: ObjectKey) => { key: ObjectKey; as: string }[],
    depth = 0,
  ): Node => {
    const object = all.get(key)?.object;
    const ready = object ? readyOf(object) : undefined;
    return {
      object: key,
      as,
      ready: object !== undefined && isReady(object),
      reason: object ? (ready?.reason ?? "Pending") : "ReferenceNotFound",
      next: depth >= DEEPEST ? [] : neighbours(key).map((other) => nodeOf(other.key, other.as, neighbours, depth + 1)),
    };
  };
  const needsOf = (key: ObjectKey) => {
    const each = all.get(key);
    // All of them use the same Account, so it is listed once.
    return each ? needs(each).filter(({ as }) => as !== ACCOUNT || key === start.key) : [];
  };
  const dependentsOf = (key: ObjectKey) => dependents.get(key) ?? [];
  const needed = nodeOf(start.key, "", needsOf);
  const usedBy = nodeOf(start.key, "", dependentsOf);
  const tree = { object: start.key, needs: needed.next, needed_by: usedBy.next };
  return { ...tree, picture: pictureOf(tree) };
}

interface Tree {
  object: ObjectKey;
  needs: Node[];
  needed_by: Node[];
}

/** The lines of a picture. The text of a line is external, and may contain line breaks: a command escapes it. */
export const linesOf = ({ object, needs, needed_by }: Tree): Line[] => [
  { indent: "", text: object },
  { indent: "", text: "needs:" },
  ...drawn(needs),
  { indent: "", text: "needed by:" },
  ...drawn(needed_by),
];

/** The picture as one text, in which nothing external begins a line. */
export const pictureOf = (tree: Tree): string =>
  linesOf(tree)
    .map(({ indent, text }) => `${indent}${plainText(text)}`)
    .join("\n");

function accountsOf({ object }: MooringObject): ObjectKey[] {
  const { account } = readStatus(object);
  return account === undefined ? [] : [objectOf(account)];
}

interface Line {
  indent: string;
  text: string;
}

const drawn = (nodes: Node[], indent = "  "): Line[] =>
  nodes.length === 0 && indent === "  "
    ? [{ indent, text: "nothing" }]
    : nodes.flatMap((node) => [
        { indent, text: `${node.object} (${node.as}) ${node.ready ? "Ready" : node.reason}` },
        ...drawn(node.next, `${indent}  `),
      ]);
