import { describe, expect, test } from "vitest";
import { z } from "zod";
import { kinds } from "../../src/kinds/index.ts";
import { hasResource } from "../../src/kinds/kind.ts";

const ID = "72e73b81-8551-4e74-b398-fc63b39994af";
/** What the platform calls its things, and what else a field may want to have. */
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

/** Every field of a spec that can hold a text or a whole number of the user's choice. */
function* leaves(schema: z.ZodType, path: Path = []): Generator<Path> {
  const type = inner(schema);
  if (type instanceof z.ZodObject) {
    for (const [name, field] of Object.entries(type.shape)) yield* leaves(inner(field), [...path, name]);
  } else if (type instanceof z.ZodArray) yield* leaves(inner(type.element), [...path, 0]);
  else if (wordsOfThePlatform.some((word) => type.safeParse(word).success)) yield path;
}

/** A value that the schema takes, with `word` at the path; undefined where it takes no such word. */
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

/** Whether a spec with a word of the platform in this field has it judged whose that is. */
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

/** Counts only together with another field of its kind. */
const company: Record<string, object> = { "Snapshot datacenterId": { volumeId: ID.replace("72", "27") } };

/** Fields that name nothing of the contract, and why that is so where it may look otherwise. */
const plain: RegExp[] = [
  /^externalId$/, // is judged by itself, until it is taken over
  /Ref\.(name|namespace|key)$/, // objects and Secrets of the same namespace, or what a Grant opens
  /(^|\.)name$|^(description|hostname)$|^secretName$|^output\.(secret|configMap)Name$|sshKeys$|^logs\.tag$/, // what something is to be called, or holds
  /(^|\.)(size|ram|index|port|scale(In|Out)Threshold|numberOfPartitions|retentionTime|segmentBytes)$/, // amounts
  /^models$|^budget\.(eurPerDay|tokensPerCall)$/, // the platform's, and the same for everybody; amounts
  /^template(Uuid|Name)$/, // the platform's, and the same for everybody
  /imageLookup\.name$/, // finds what the catalogue shows, which is judged there
  /^user(Id)?$/, // a user of the cluster, which is judged
  /firewallRules\.(sourceIp|targetIp|portRange(Start|End))$/, // who is let through to a NIC, wherever that is; takes nothing
  /^nic$/, // a NIC of the Server, which is judged
  /(^|\.)bucket$/, // the whole object storage has one namespace; who may write there, the bucket says
];

describe("a field that can name something of the contract in the platform's words", () => {
  test.each(managed.map((kind) => [kind.kind, kind] as const))(
    "is declared by %s, or known to name nothing; if not: `mentions` of the kind, or a row in `plain` of this file",
    (_, kind) => {
      const all = [...leaves(kind.spec)].filter((path) => !plain.some((each) => each.test(written(path))));
      expect(all.filter((path) => !isJudged(kind, path)).map(written)).toEqual([]);
    },
  );
});
