import fc from "fast-check";
import { GROUP, VERSION } from "../../../src/kinds/index.ts";

/** A manifest that somebody might send, valid or not. */
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; annotations: Record<string, string> };
  spec: unknown;
}

type Node = string | number | boolean | null | Node[] | { [name: string]: Node };

const valid: Record<string, { [name: string]: Node }> = {
  Account: { endpoints: { api: "http://127.0.0.1:9" }, credentialsSecretRef: { name: "main" } },
  Datacenter: { location: "de/txl", description: "good", accountRef: { name: "main" } },
  Server: {
    datacenterRef: { name: "nowhere" },
    accountRef: { name: "main" },
    cores: 2,
    ram: 2048,
    bootVolume: { size: 10, type: "SSD Standard", imageAlias: "ubuntu:latest" },
    nics: [{ name: "public", lan: 1 }],
  },
};

const deep = (depth: number): Node =>
  Array.from({ length: depth }).reduce<Node>((inner) => ({ spec: [inner] }), "bottom");

const names = fc.constantFrom("__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "", " ", "$ref");

const hostile: fc.Arbitrary<Node> = fc.oneof(
  fc.constantFrom<Node>(null, true, "", -1, 0, 1e308, -1e308, 2 ** 53, 0.1, [], {}),
  fc.constantFrom<Node>("\u0000", "\u202e", "../../..", "%00", "\r\nX: y", "'; --", "de/txl\n"),
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.integer({ min: 1000, max: 60_000 }).map((length) => "ä".repeat(length)),
  fc.integer({ min: 5, max: 300 }).map(deep),
  fc.dictionary(names, fc.constantFrom<Node>(null, 1, "x", {}, [])),
  fc.array(fc.constantFrom<Node>(null, 1, "x", {}, []), { maxLength: 50 }),
);

/** Replaces a value somewhere in a tree, or adds one under an unexpected name. */
function spoilt(tree: Node, turns: readonly number[], value: Node, name: string | undefined): Node {
  const [turn = 0, ...rest] = turns;
  if (Array.isArray(tree) && tree.length > 0 && rest.length > 0) {
    const at = turn % tree.length;
    return tree.map((each, index) => (index === at ? spoilt(each, rest, value, name) : each));
  }
  if (typeof tree !== "object" || tree === null || Array.isArray(tree)) return value;
  const keys = Object.keys(tree);
  const key = name !== undefined && rest.length < 2 ? name : (keys[turn % keys.length] ?? "x");
  const inner = rest.length > 0 && Object.hasOwn(tree, key) ? spoilt(tree[key] ?? null, rest, value, name) : value;
  // As JSON.parse does: __proto__ is an ordinary key.
  return Object.fromEntries([...Object.entries(tree), [key, inner]]);
}

const instants = fc.constantFrom("2026-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z", "1970-01-01T00:00:00Z", "now");
const record = (shape: Record<string, fc.Arbitrary<unknown>>) => fc.record(shape).map((each) => JSON.stringify(each));
const parents = fc.constantFrom<unknown>({}, { datacenter: "../../x" }, { __proto__: null, datacenter: "d" }, [], 7);
const accounts = fc.constantFrom("", "main", "kube-system/main", "a/b/c", "__proto__");

const junk = fc.oneof(
  fc.constantFrom("", "null", "[]", "{}", "{", '"x"', '{"__proto__":{"nonce":"x"}}', "true", "TRUE", "yes"),
  fc.string({ unit: "binary", maxLength: 60 }),
  fc.integer({ min: 100, max: 100_000 }).map((depth) => "[".repeat(depth)),
);
const intents = record({
  nonce: fc.constantFrom<unknown>("n", "", 7, "__proto__"),
  at: instants,
  hash: fc.constantFrom<unknown>("h", "", null),
  parents,
  account: accounts,
});
const kept = record({ id: fc.constantFrom<unknown>("x", "../..", "", 7), parents, account: accounts, owner: accounts });

const annotations = fc.dictionary(
  fc.constantFrom("intent", "external-id", "paused", "reconcile-at", "allow-data-loss", "allow-non-empty-delete"),
  fc.oneof(junk, intents, kept),
  { maxKeys: 3 },
);

const manifest = fc
  .record({
    kind: fc.constantFrom(...Object.keys(valid)),
    how: fc.constantFrom("valid", "nearly", "nearly", "nearly", "hostile"),
    turns: fc.array(fc.nat(9), { minLength: 1, maxLength: 3 }),
    value: hostile,
    name: fc.option(names, { nil: undefined, freq: 3 }),
    annotations: fc.option(annotations, { nil: {}, freq: 2 }),
  })
  .map(({ kind, how, turns, value, name, annotations }) => {
    const good = valid[kind] ?? {};
    const spec = how === "valid" ? good : how === "nearly" ? spoilt(good, turns, value, name) : value;
    const own = Object.entries(annotations).map(([key, text]) => [`${GROUP}/${key}`, text] as const);
    return { kind, spec, annotations: Object.fromEntries(own) };
  });

/** Generates manifests; equal seeds give equal manifests. */
export function manifests(count: number, seed: number): Manifest[] {
  return fc.sample(manifest, { numRuns: count, seed }).map(({ kind, spec, annotations }, index) => ({
    apiVersion: `${GROUP}/${VERSION}`,
    kind,
    metadata: { name: `hostile-${index}`, annotations },
    spec,
  }));
}
