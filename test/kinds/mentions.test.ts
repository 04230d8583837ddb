import { describe, expect, test } from "vitest";
import { z } from "zod";
import { kinds } from "../../src/kinds/index.ts";
import { hasResource } from "../../src/kinds/kind.ts";

const ID = "72e73b81-8551-4e74-b398-fc63b39994af";
/** Words that the platform uses for its resources, and other values that a field may require. */
const wordsOfThePlatform = [ID, "203.0.113.7", "203.0.113.7/24", "4711", 4711];
const others = [
  "a",
  "de/txl",
  "ubuntu:latest",
  "fd00::/64",
  "03:00",
  "24h",
  "PT5M",
  "a:b",
  "my-bucket",
  "ssh-rsa AAAA",
  1,
  256,
];

type Path = (string | 0)[];
const optional = (schema: z.ZodType) => schema instanceof z.ZodOptional || schema instanceof z.ZodDefault;

function inner(schema: unknown): z.ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) return inner(schema.unwrap());
  if (schema instanceof z.ZodType) return schema;
  throw new Error("it is no schema");
}

/** Every field of a spec that accepts a free text or an integer. */
function* leaves(schema: z.ZodType, path: Path = []): Generator<Path> {
  const type = inner(schema);
  if (type instanceof z.ZodObject) {
    for (const [name, field] of Object.entries(type.shape)) yield* leaves(inner(field), [...path, name]);
  } else if (type instanceof z.ZodArray) yield* leaves(inner(type.element), [...path, 0]);
  else if (wordsOfThePlatform.some((word) => type.safeParse(word).success)) yield path;
}

/** A value that the schema accepts, with `word` at the path; undefined if it accepts no such word. */
function holding(schema: z.ZodType, path: Path, word: unknown): unknown {
  const type = inner(schema);
  const [step, ...rest] = path;
  if (type instanceof z.ZodObject) {
    const fields = Object.entries(type.shape).flatMap(([name, field]) => {
      if (name === step) return [[name, holding(inner(field), rest, word)]];
      return field instanceof z.ZodType && optional(field) ? [] : [[name, holding(inner(field), [], undefined)]];
    });
    return Object.fromEntries(fields);
  }
  if (type instanceof z.ZodArray) {
    const member = holding(inner(type.element), step === 0 ? rest : [], word);
    return [1, 2, 3].map(() => member).slice(0, type.safeParse([member]).success ? 1 : 3);
  }
  if (word !== undefined && step === undefined) return word;
  return [...others, ...wordsOfThePlatform, true, ...choices(type)].find((value) => type.safeParse(value).success);
}
const choices = (type: z.ZodType): unknown[] => (type instanceof z.ZodEnum ? type.options : []);

/** Whether the owner is checked when this field of a spec has a word of the platform. */
function isJudged(kind: (typeof managed)[number], path: Path): boolean {
  return wordsOfThePlatform.some((word) => {
    try {
      const { references, mentions } = kind.resource.desire({
        ...Object(holding(kind.spec, path, word)),
        ...company[`${kind.kind} ${written(path)}`],
      });
      const named = [
        ...references.flatMap(({ target }) => ("id" in target ? [target.id] : [])),
        ...mentions.map(({ value }) => value),
      ];
      return named.includes(String(word).replace(/\/.*/, ""));
    } catch {
      return false;
    }
  });
}

const managed = kinds.filter(hasResource);
const written = (path: Path) => path.filter((step) => step !== 0).join(".");

/** Matters only together with another field of its kind. */
const company: Record<string, object> = { "Snapshot datacenterId": { volumeId: ID.replace("72", "27") } };

/** Fields that name nothing of the contract, with the reason. */
const plain: RegExp[] = [
  /^externalId$/, // checked separately, until it is adopted
  /Ref\.(name|namespace|key)$/, // objects and Secrets of the same namespace, or opened by a Grant
  /(^|\.)name$|^(description|hostname)$|^secretName$|^output\.(secret|configMap)Name$|sshKeys$|^logs\.tag$/, // names and content
  /(^|\.)(size|ram|index|port|scale(In|Out)Threshold|numberOfPartitions|retentionTime|segmentBytes)$/, // amounts
  /^models$|^budget\.(eurPerDay|tokensPerCall)$/, // public to everybody; amounts
  /^template(Uuid|Name)$/, // public to everybody
  /imageLookup\.name$/, // searches the catalogue, which is checked there
  /^user(Id)?$/, // a user of the cluster, which is checked
  /firewallRules\.(sourceIp|targetIp|portRange(Start|End))$/, // peers that may reach a NIC; uses nothing of theirs
  /^nic$/, // a NIC of the Server, which is checked
  /(^|\.)bucket$/, // bucket names are global; the bucket's policy decides who may write
];

describe("a field that can name a resource of the contract by its id or name", () => {
  test.each(managed.map((kind) => [kind.kind, kind] as const))(
    "is declared by %s, or known to name nothing; if not: `mentions` of the kind, or a row in `plain` of this file",
    (_, kind) => {
      const all = [...leaves(kind.spec)].filter((path) => !plain.some((each) => each.test(written(path))));
      expect(all.filter((path) => !isJudged(kind, path)).map(written)).toEqual([]);
    },
  );
});
